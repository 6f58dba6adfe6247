//! Handlers of `system.*`.

use protocol::{Dialect, company::system::*};
use rpc::{Failure, Router};

use crate::{Context, VERSION};

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<CompanySystemCapabilities>(capabilities);
}

async fn capabilities(
    ctx: Context,
    _params: CompanySystemCapabilitiesParams,
) -> Result<CompanySystemCapabilitiesResponse, Failure> {
    let names = ctx.method_names();
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    Ok(CompanySystemCapabilitiesResponse {
        protocol_version: "v1".to_owned(),
        available_methods: names
            .filter(|name| Dialect::of_name(name) == Dialect::Company)
            .map(ToOwned::to_owned)
            .collect(),
        context: ContextCapabilities {
            layers_version: 1,
            job_submit_auto_default: true,
        },
        memory: MemoryCapabilities {
            write_schema_version: 2,
            parse_supported: vec![1, 2],
            list_requires_actor: true,
            list_required_params: words(&["actor_id", "actor_role"]),
            session_candidate_mode: "review_only".to_owned(),
            scope_kind: words(&["project_memory", "agent_guidance"]),
            sensitivity: words(&["public", "internal", "restricted"]),
        },
        retrieval: RetrievalCapabilities {
            storage: "sqlite_metadata".to_owned(),
        },
        server: ServerCapabilities {
            name: "accord".to_owned(),
            version: VERSION.to_owned(),
            extensions: words(&protocol::company::extensions()),
        },
    })
}
