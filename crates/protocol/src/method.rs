//! The declaration of a method: wire name, required access, params type, response type and documentation.
//!
//! Each family file declares its methods and notifications with [`methods!`](crate::methods). The dispatch table, the
//! JSON Schemas, the reference, the OpenRPC document and the capability lists are all derived from these declarations.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    ThreadId, WorkspaceId,
    company::{ActorRole, Text},
};

/// A request that the gateway answers.
///
/// [`methods!`](crate::methods) implements it on a unit struct. That struct identifies the method in
/// `.on::<M>(handler)` and `.call::<M>(params)`.
pub trait Method: 'static {
    /// The exact wire name.
    const NAME: &'static str;
    /// The rule set that the method follows.
    const DIALECT: Dialect;
    /// The scope that a token needs to call the method.
    const ACCESS: Access;
    /// The path of the param that states the role of the acting agent; `None` if the method has none.
    const CLAIMS: Option<&'static str>;
    /// The lowest role that a token must have, for methods whose effects the policy of a company cannot check. `None`
    /// if any role may call the method.
    const NEEDS: Option<ActorRole>;
    /// The type of `params`.
    type Params: Serialize + DeserializeOwned + JsonSchema + Send + 'static;
    /// The type of `result`.
    type Response: Serialize + DeserializeOwned + JsonSchema + Send + 'static;

    /// Returns the resource that the params name, so that access is checked in one place before dispatch.
    fn reach(params: &Self::Params) -> Reach<'_>;

    /// Returns the role that the params state for the acting agent, so that it can be compared with the token's role.
    fn claims(params: &Self::Params) -> Option<ActorRole>;
}

/// A message that the gateway sends without a request.
pub trait Notification: Serialize + DeserializeOwned + JsonSchema + Send + 'static {
    /// The exact wire name.
    const NAME: &'static str;
}

/// The rule set of a method family. The two rule sets use different error codes and error details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Names with slashes, such as `thread/folder/create`: conflicts and internal failures have code `-32600`, and
    /// `data.kind` identifies the failure.
    Tree,
    /// Names with dots, such as `workspace.init`: application failures have code `-32000`, and `data.reason_code`
    /// identifies the failure.
    Company,
}

impl Dialect {
    /// Returns the rule set for a name that no family declares: [`Dialect::Company`] if the name contains a dot and no
    /// slash, else [`Dialect::Tree`].
    pub fn of_name(name: &str) -> Self {
        if name.contains('.') && !name.contains('/') {
            Self::Company
        } else {
            Self::Tree
        }
    }

    /// Returns the character that separates the parts of a method name.
    pub fn separator(self) -> char {
        match self {
            Self::Tree => '/',
            Self::Company => '.',
        }
    }

    /// Returns the name of the family as shown in `system/methods` and the reference.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Company => "company",
        }
    }
}

/// The kind of effect that a call has; each kind is a scope of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Reads data.
    Read,
    /// Proposes a change that a person must approve.
    Propose,
    /// Changes data.
    Write,
    /// Sends requests to a model provider with the owner's API keys.
    Spend,
    /// Starts a process.
    Exec,
}

impl Access {
    /// Returns the scope as written in `ac token create --scope`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Propose => "propose",
            Self::Write => "write",
            Self::Spend => "spend",
            Self::Exec => "exec",
        }
    }
}

/// The resource that the params of a call name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach<'a> {
    /// No workspace: the call applies to the whole gateway.
    Home,
    /// One workspace, by id.
    Workspace(&'a WorkspaceId),
    /// One thread, by id; the thread determines the workspace.
    Thread(&'a ThreadId),
    /// A company folder, by path.
    Company(&'a str),
}

impl<'a> From<&'a Text> for Reach<'a> {
    fn from(workspace_dir: &'a Text) -> Self {
        Self::Company(workspace_dir)
    }
}

impl<'a> From<&'a Option<Text>> for Reach<'a> {
    /// Maps an absent folder to an empty path; the call then applies to all company folders.
    fn from(workspace_dir: &'a Option<Text>) -> Self {
        Self::Company(workspace_dir.as_deref().unwrap_or_default())
    }
}

impl<'a> From<&'a WorkspaceId> for Reach<'a> {
    fn from(id: &'a WorkspaceId) -> Self {
        Self::Workspace(id)
    }
}

impl<'a> From<&'a ThreadId> for Reach<'a> {
    fn from(id: &'a ThreadId) -> Self {
        Self::Thread(id)
    }
}

/// Methods and notifications that share a prefix, a source file and a chapter of the reference.
#[derive(Debug)]
pub struct Family {
    /// The common prefix of the wire names.
    pub prefix: &'static str,
    /// The rule set that the family follows.
    pub dialect: Dialect,
    /// The methods, in declaration order.
    pub methods: &'static [MethodSpec],
    /// The notifications, in declaration order.
    pub notifications: &'static [NotificationSpec],
    /// Published types that are not params, results or payloads, such as the headers of binary frames.
    pub types: &'static [TypeSpec],
}

/// A [`Method`] with its types erased: one row of the reference.
#[derive(Debug)]
pub struct MethodSpec {
    /// The exact wire name.
    pub name: &'static str,
    /// The doc comment of the declaration.
    pub doc: &'static str,
    /// The scope that a token needs to call the method.
    pub access: Access,
    /// The path of the param that states the role of the acting agent. A token cannot claim a role above its own.
    /// `None` if the method has no such param.
    pub claims: Option<&'static str>,
    /// The lowest role that a token must have; `None` if any role may call the method.
    pub needs: Option<ActorRole>,
    /// The type of `params`.
    pub params: TypeSpec,
    /// The type of `result`.
    pub response: TypeSpec,
}

impl MethodSpec {
    /// Creates the row for method `M`.
    pub const fn of<M: Method>(doc: &'static str) -> Self {
        Self {
            name: M::NAME,
            doc,
            access: M::ACCESS,
            claims: M::CLAIMS,
            needs: M::NEEDS,
            params: TypeSpec::of::<M::Params>(),
            response: TypeSpec::of::<M::Response>(),
        }
    }
}

/// A [`Notification`] with its type erased.
#[derive(Debug)]
pub struct NotificationSpec {
    /// The exact wire name.
    pub name: &'static str,
    /// The doc comment of the declaration.
    pub doc: &'static str,
    /// The type of `params`.
    pub payload: TypeSpec,
}

impl NotificationSpec {
    /// Creates the row for notification `N`.
    pub const fn of<N: Notification>(doc: &'static str) -> Self {
        Self {
            name: N::NAME,
            doc,
            payload: TypeSpec::of::<N>(),
        }
    }
}

/// A wire type, represented by its name and its schema generator.
#[derive(Debug)]
pub struct TypeSpec {
    name: fn() -> Cow<'static, str>,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

impl TypeSpec {
    /// Creates the specification of type `T`.
    pub const fn of<T: JsonSchema>() -> Self {
        Self {
            name: T::schema_name,
            schema: SchemaGenerator::subschema_for::<T>,
        }
    }

    /// Returns the Rust name of the type. The name of the schema file is the same name in snake_case.
    pub fn name(&self) -> Cow<'static, str> {
        (self.name)()
    }

    /// Registers the type and all types it refers to with `generator`.
    pub(crate) fn register(&self, generator: &mut SchemaGenerator) -> Schema {
        (self.schema)(generator)
    }
}

/// Declares one family: a unit struct per method, a [`Notification`] impl per payload, and the constant `FAMILY`.
#[macro_export]
macro_rules! methods {
    (
        $dialect:ident family $prefix:literal;
        $(
            $(#[doc = $doc:literal])+
            $access:ident $method:ident = $name:literal
                ($params:ident $(in $field:ident)? $(as $role:ident $(. $of:ident)*)? $(only $needed:ident)?)
                -> $response:ident;
        )*
        $(notifications {
            $(
                $(#[doc = $notification_doc:literal])+
                $notification_name:literal = $payload:ident;
            )+
        })?
        $(types { $($published:ident),+ $(,)? })?
    ) => {
        $(
            $(#[doc = $doc])+
            #[derive(Debug)]
            pub struct $method;

            impl $crate::Method for $method {
                const NAME: &'static str = $name;
                const DIALECT: $crate::Dialect = $crate::Dialect::$dialect;
                const ACCESS: $crate::Access = $crate::Access::$access;
                const CLAIMS: Option<&'static str> = $crate::methods!(@claim $($role $($of)*)?);
                const NEEDS: Option<$crate::company::ActorRole> = $crate::methods!(@needs $($needed)?);
                type Params = $params;
                type Response = $response;

                fn reach(params: &$params) -> $crate::Reach<'_> {
                    $crate::methods!(@reach params $($field)?)
                }

                fn claims(params: &$params) -> Option<$crate::company::ActorRole> {
                    $crate::methods!(@claims params $($role $($of)*)?)
                }
            }
        )*
        $($(
            impl $crate::Notification for $payload {
                const NAME: &'static str = $notification_name;
            }
        )+)?

        /// The methods, notifications and published types declared in this file.
        pub const FAMILY: $crate::Family = $crate::Family {
            prefix: $prefix,
            dialect: $crate::Dialect::$dialect,
            methods: &[$($crate::MethodSpec::of::<$method>(concat!($($doc, "\n"),+))),*],
            notifications: &[$($(
                $crate::NotificationSpec::of::<$payload>(concat!($($notification_doc, "\n"),+))
            ),+)?],
            types: &[$($($crate::TypeSpec::of::<$published>()),+)?],
        };
    };
    (@reach $params:ident) => {{
        let _ = $params;
        $crate::Reach::Home
    }};
    (@reach $params:ident $field:ident) => {
        $crate::Reach::from(&$params.$field)
    };
    (@claim) => {
        None
    };
    // [`Asking`](crate::company::Asking) is flattened, so `actor_role` is a top-level param on the wire.
    (@claim asking actor_role) => {
        Some("actor_role")
    };
    (@claim $role:ident $($of:ident)*) => {
        Some(concat!(stringify!($role) $(, ".", stringify!($of))*))
    };
    (@needs) => {
        None
    };
    (@needs $needed:ident) => {
        Some($crate::company::ActorRole::$needed)
    };
    (@claims $params:ident) => {{
        let _ = $params;
        None
    }};
    // `Option::from` accepts both a required role and an optional one.
    (@claims $params:ident $role:ident $($of:ident)*) => {
        Option::from($params.$role $(. $of)*)
    };
}
