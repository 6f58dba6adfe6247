//! Handlers of `conversation.*`.

use std::sync::Arc;

use company::{
    conversation::{self, NewChannel, NewMessage},
    org::defaults,
};
use protocol::company::{Asking, MessageKind, Visibility, conversation::*};
use rpc::{Failure, Router};

use super::{actor, asking, known, scope, within};
use crate::Context;

/// The default number of listed messages.
const USUAL_MESSAGES: u32 = 300;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<ConversationList>(list)
        .on::<ConversationCreateChannel>(create_channel)
        .on::<ConversationCreateDm>(create_dm)
        .on::<ConversationMessagesList>(messages_list)
        .on::<ConversationMessageSend>(message_send)
        .on::<ConversationMembersSync>(members_sync);
}

async fn list(
    ctx: Context,
    params: ConversationListParams,
) -> Result<ConversationListResponse, Failure> {
    let scope = scope(params.scope, params.project_id)?;
    let asking = asking(
        &ctx,
        Asking {
            actor_id: params.actor_id,
            actor_role: params.actor_role,
            actor_team_id: params.actor_team_id,
        },
    );
    let found = within(&ctx, &params.workspace_dir, move |company| {
        conversation::list(company, &scope, known(company, asking)?.as_ref())
    });
    found.await.map(ConversationListResponse)
}

async fn create_channel(
    ctx: Context,
    params: ConversationCreateChannelParams,
) -> Result<ConversationCreatedResponse, Failure> {
    if params.slug.trim() == "home" {
        return Err(Failure::param(
            "/slug",
            "`home` is taken by the company: choose another slug",
        ));
    }
    let scope = scope(params.scope, params.project_id)?;
    let channel = NewChannel {
        name: params.name.into(),
        slug: params.slug.into(),
        visibility: params.visibility.unwrap_or(Visibility::Team),
        created_by: params.created_by,
        participants: Participants {
            agent_ids: params.participant_agent_ids.unwrap_or_default(),
            team_ids: params.participant_team_ids.unwrap_or_default(),
        },
    };
    let made = within(&ctx, &params.workspace_dir, move |company| {
        conversation::create_channel(company, &scope, channel)
    });
    made.await.map(ConversationCreatedResponse)
}

async fn create_dm(
    ctx: Context,
    params: ConversationCreateDmParams,
) -> Result<ConversationCreatedResponse, Failure> {
    let scope = scope(params.scope, params.project_id)?;
    let visibility = params.visibility.unwrap_or(Visibility::PrivateAgent);
    let made = within(&ctx, &params.workspace_dir, move |company| {
        conversation::create_dm(
            company,
            &scope,
            &params.created_by,
            &params.peer_agent_id,
            visibility,
        )
    });
    made.await.map(ConversationCreatedResponse)
}

async fn messages_list(
    ctx: Context,
    params: ConversationMessagesListParams,
) -> Result<ConversationMessagesListResponse, Failure> {
    let scope = scope(params.scope, params.project_id)?;
    let asking = asking(
        &ctx,
        Asking {
            actor_id: params.actor_id,
            actor_role: params.actor_role,
            actor_team_id: params.actor_team_id,
        },
    );
    let limit = params.limit.unwrap_or(USUAL_MESSAGES) as usize;
    let found = within(&ctx, &params.workspace_dir, move |company| {
        conversation::messages(
            company,
            &scope,
            &params.conversation_id,
            limit,
            params.before_message_id.as_ref(),
            known(company, asking)?.as_ref(),
        )
    });
    found.await.map(ConversationMessagesListResponse)
}

async fn message_send(
    ctx: Context,
    params: ConversationMessageSendParams,
) -> Result<ConversationMessageSendResponse, Failure> {
    let scope = scope(params.scope, params.project_id)?;
    let message = NewMessage {
        author: actor(params.author_id, params.author_role, None),
        body: params.body.into(),
        kind: params.kind.unwrap_or(MessageKind::Text),
        visibility: params.visibility,
        mentions: params.mentions.unwrap_or_default(),
    };
    let events = Arc::clone(&ctx.services().company_events);
    let sent = within(&ctx, &params.workspace_dir, move |company| {
        let sent = conversation::send(company, &scope, &params.conversation_id, message)?;
        events.message_sent(company, &sent.0, &sent.1);
        Ok(sent)
    });
    let (conversation, message) = sent.await?;
    Ok(ConversationMessageSendResponse {
        conversation,
        message,
    })
}

async fn members_sync(
    ctx: Context,
    params: ConversationMembersSyncParams,
) -> Result<ConversationMembersSyncResponse, Failure> {
    within(&ctx, &params.workspace_dir, move |company| {
        let ceo = params
            .ceo_actor_id
            .as_deref()
            .unwrap_or(defaults::HUMAN_CEO);
        let executive = params.executive_manager_agent_id.as_ref();
        let made = company
            .write(|writer| writer.ensure_project_defaults(&params.project_id, ceo, executive))?;
        Ok(ConversationMembersSyncResponse {
            global_manager_agent_id: made.global_manager,
            project_secretary_agent_id: made.secretary,
            conversation_ids: made.conversations,
        })
    })
    .await
}
