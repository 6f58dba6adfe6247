//! What a method is: a name, who may call it, a params type, a response type and a few sentences.
//!
//! A family file declares its methods and notifications with [`methods!`](crate::methods). The dispatch
//! table, the JSON Schemas, the reference, the OpenRPC document and the capability lists are all read from
//! what that one declaration produces.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    ThreadId, WorkspaceId,
    company::{ActorRole, Text},
};

/// A request the gateway answers.
///
/// Implemented by [`methods!`](crate::methods) on a unit struct, which then stands for the method in
/// `.on::<M>(handler)` and `.call::<M>(params)`.
pub trait Method: 'static {
    /// The exact wire name.
    const NAME: &'static str;
    /// Which published rules the method follows.
    const DIALECT: Dialect;
    /// What a token must be allowed to do to call it.
    const ACCESS: Access;
    /// The param that claims a role for whoever acts.
    const CLAIMS: Option<&'static str>;
    /// The role a token needs at least, for what shows or changes more than policy can look at.
    const NEEDS: Option<ActorRole>;
    /// The payload of `params`.
    type Params: Serialize + DeserializeOwned + JsonSchema + Send + 'static;
    /// The payload of `result`.
    type Response: Serialize + DeserializeOwned + JsonSchema + Send + 'static;

    /// What these params name, so that access is decided in one place before dispatch.
    fn reach(params: &Self::Params) -> Reach<'_>;

    /// The role these params claim for whoever acts, so that a token's ceiling is kept in the same place.
    fn claims(params: &Self::Params) -> Option<ActorRole>;
}

/// A message the gateway sends without being asked.
pub trait Notification: Serialize + DeserializeOwned + JsonSchema + Send + 'static {
    /// The exact wire name.
    const NAME: &'static str;
}

/// The two rule sets this gateway speaks. They differ in how failures are numbered and described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `thread/folder/create`: conflicts and internal failures are `-32600`, `data.kind` names the failure.
    Tree,
    /// `workspace.init`: application failures are `-32000`, `data.reason_code` names the failure.
    Company,
}

impl Dialect {
    /// The rules an undeclared name would follow: names with dots and no slash are of the company family.
    pub fn of_name(name: &str) -> Self {
        if name.contains('.') && !name.contains('/') {
            Self::Company
        } else {
            Self::Tree
        }
    }

    /// What stands between the parts of a method name.
    pub fn separator(self) -> char {
        match self {
            Self::Tree => '/',
            Self::Company => '.',
        }
    }

    /// The name of the family of methods in `system/methods` and the reference.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Company => "company",
        }
    }
}

/// What a call does, which is what a token's scopes are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Looks at something.
    Read,
    /// Proposes a change that somebody else decides about.
    Propose,
    /// Changes something.
    Write,
    /// Asks a model provider with the owner's keys.
    Spend,
    /// Starts a process.
    Exec,
}

impl Access {
    /// The scope as written in `ac token create --scope`.
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

/// What the params of one call name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach<'a> {
    /// No workspace in particular.
    Home,
    /// One workspace.
    Workspace(&'a WorkspaceId),
    /// One thread, and through it a workspace.
    Thread(&'a ThreadId),
    /// A company folder.
    Company(&'a str),
}

impl<'a> From<&'a Text> for Reach<'a> {
    fn from(workspace_dir: &'a Text) -> Self {
        Self::Company(workspace_dir)
    }
}

impl<'a> From<&'a Option<Text>> for Reach<'a> {
    /// Without a folder it is about all folders, which is the same as any of them to a token.
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

/// Methods and notifications that share a prefix, a file and a chapter of the reference.
#[derive(Debug)]
pub struct Family {
    /// The common prefix of the wire names.
    pub prefix: &'static str,
    /// The rules the family follows.
    pub dialect: Dialect,
    /// The methods, in declaration order.
    pub methods: &'static [MethodSpec],
    /// The notifications, in declaration order.
    pub notifications: &'static [NotificationSpec],
    /// Types that are published without being params, a result or a payload, such as headers of binary frames.
    pub types: &'static [TypeSpec],
}

/// A [`Method`] with its types erased: one row of the reference.
#[derive(Debug)]
pub struct MethodSpec {
    /// The exact wire name.
    pub name: &'static str,
    /// The doc comment above the declaration.
    pub doc: &'static str,
    /// What a token must be allowed to do to call it.
    pub access: Access,
    /// The param that claims a role for whoever acts; a token's role is its ceiling.
    pub claims: Option<&'static str>,
    /// The role a token needs at least.
    pub needs: Option<ActorRole>,
    /// The payload of `params`.
    pub params: TypeSpec,
    /// The payload of `result`.
    pub response: TypeSpec,
}

impl MethodSpec {
    /// The row for `M`.
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
    /// The doc comment above the declaration.
    pub doc: &'static str,
    /// The payload of `params`.
    pub payload: TypeSpec,
}

impl NotificationSpec {
    /// The row for `N`.
    pub const fn of<N: Notification>(doc: &'static str) -> Self {
        Self {
            name: N::NAME,
            doc,
            payload: TypeSpec::of::<N>(),
        }
    }
}

/// A wire type, seen as a name and a schema.
#[derive(Debug)]
pub struct TypeSpec {
    name: fn() -> Cow<'static, str>,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

impl TypeSpec {
    /// The row for `T`.
    pub const fn of<T: JsonSchema>() -> Self {
        Self {
            name: T::schema_name,
            schema: SchemaGenerator::subschema_for::<T>,
        }
    }

    /// The Rust name of the type, which the schema file carries in snake_case.
    pub fn name(&self) -> Cow<'static, str> {
        (self.name)()
    }

    /// Registers the type and everything it refers to with `generator`.
    pub(crate) fn register(&self, generator: &mut SchemaGenerator) -> Schema {
        (self.schema)(generator)
    }
}

/// Declares one family: a unit struct per method, [`Notification`] per payload, and `FAMILY` with a row each.
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

        /// What is declared in this file.
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
    // The params of an [`Asking`](crate::company::Asking) stand beside the others.
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
    // Of a role that must be given, and of one that may be.
    (@claims $params:ident $role:ident $($of:ident)*) => {
        Option::from($params.$role $(. $of)*)
    };
}
