//! No actor can read, compose or decide what the policy table forbids, through any operation.

use company::{
    Error,
    conversation::{
        self, ConversationScope, NewChannel, NewMessage,
        comment::{self, NewComment},
    },
    decisions::review::DocumentDecision,
    documents,
    events::follow::Filter,
    inbox::{self, RecordOnly},
    memory::{
        self,
        context_plan::{self, Job, by_words},
    },
    policy::Actor,
};
use proptest::prelude::*;
use protocol::{
    Id as _,
    company::{
        ActorRole, DocumentId, JobKind, MessageKind, ReviewDecision, Sensitivity, Visibility,
        conversation::Participants, memory::DeltaFilter,
    },
};
use serde_json::json;

use crate::place::{Place, human, text};

const AGENTS: [(&str, ActorRole, &str); 5] = [
    ("agent_a", ActorRole::Worker, "team_a"),
    ("agent_b", ActorRole::Worker, "team_b"),
    ("agent_m", ActorRole::Manager, "team_a"),
    ("agent_d", ActorRole::Director, "team_b"),
    ("agent_c", ActorRole::Ceo, "team_a"),
];

/// A second, independent formulation of the policy table, in terms of the permitted actors.
#[derive(Debug)]
struct Thing {
    visibility: Visibility,
    producer: &'static str,
    sensitivity: Sensitivity,
}

fn height(role: ActorRole) -> usize {
    let roles = [
        ActorRole::Worker,
        ActorRole::Manager,
        ActorRole::Director,
        ActorRole::Ceo,
        ActorRole::Human,
    ];
    roles
        .iter()
        .position(|one| *one == role)
        .expect("the fixture is as it was made")
}

impl Thing {
    fn team(&self) -> Option<&'static str> {
        let agent = AGENTS.iter().find(|(id, ..)| *id == self.producer);
        agent.map(|(_, _, team)| *team)
    }

    fn is_seen_by(&self, actor: &Actor) -> bool {
        let own = actor.id == self.producer;
        match self.visibility {
            Visibility::Org => true,
            Visibility::Managers => height(actor.role) >= 1,
            Visibility::Team => {
                height(actor.role) >= 1
                    || (actor.team_id.is_some() && actor.team_id.as_deref() == self.team())
            }
            Visibility::PrivateAgent => actor.role == ActorRole::Human || own,
        }
    }

    fn may_read(&self, actor: &Actor) -> bool {
        let restricted = self.sensitivity == Sensitivity::Restricted;
        let is_high = !restricted || height(actor.role) >= 2;
        is_high && (self.is_seen_by(actor) || actor.id == self.producer)
    }

    fn may_give(&self, actor: &Actor) -> bool {
        let restricted = self.sensitivity == Sensitivity::Restricted;
        (!restricted || height(actor.role) >= 2) && self.is_seen_by(actor)
    }

    fn may_decide(&self, actor: &Actor) -> bool {
        // Being the producer grants no right to decide.
        let anybody = Self {
            producer: "",
            ..*self
        };
        let seen = match self.visibility {
            Visibility::PrivateAgent => actor.role == ActorRole::Human,
            Visibility::Org | Visibility::Managers | Visibility::Team => anybody.is_seen_by(actor),
        };
        height(actor.role) >= 2 && seen
    }
}

fn any_visibility() -> impl Strategy<Value = Visibility> {
    prop::sample::select(vec![
        Visibility::Org,
        Visibility::Managers,
        Visibility::Team,
        Visibility::PrivateAgent,
    ])
}

fn any_thing() -> impl Strategy<Value = Thing> {
    let sensitivities = vec![
        Sensitivity::Public,
        Sensitivity::Internal,
        Sensitivity::Restricted,
    ];
    (
        any_visibility(),
        0..AGENTS.len(),
        prop::sample::select(sensitivities),
    )
        .prop_map(|(visibility, producer, sensitivity)| Thing {
            // A restricted delta with visibility `org` cannot be proposed.
            visibility: match (visibility, sensitivity) {
                (Visibility::Org, Sensitivity::Restricted) => Visibility::Managers,
                (visibility, _) => visibility,
            },
            producer: AGENTS[producer].0,
            sensitivity,
        })
}

/// An agent with its own or a lower role, or an actor that the company does not know.
fn any_actor() -> impl Strategy<Value = Actor> {
    let agents = (0..AGENTS.len(), 0..5_usize).prop_map(|(agent, lower)| {
        let (id, role, _) = AGENTS[agent];
        let roles = [
            ActorRole::Worker,
            ActorRole::Manager,
            ActorRole::Director,
            ActorRole::Ceo,
        ];
        Actor {
            id: id.to_owned(),
            role: roles[lower.min(height(role))],
            team_id: None,
        }
    });
    let people = (0..5_usize, prop::option::of("team_[ab]")).prop_map(|(role, team_id)| {
        let roles = [
            ActorRole::Worker,
            ActorRole::Manager,
            ActorRole::Director,
            ActorRole::Ceo,
            ActorRole::Human,
        ];
        Actor {
            id: "somebody".to_owned(),
            role: roles[role],
            team_id,
        }
    });
    prop_oneof![agents, people]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nobody_sees_gives_or_decides_what_the_table_forbids(
        things in prop::collection::vec((any_thing(), any::<bool>()), 1..6),
        actors in prop::collection::vec(any_actor(), 1..6),
    ) {
        let place = Place::new();
        let company = &place.company;
        let mut made: Vec<(DocumentId, &Thing, bool)> = Vec::new();
        for (thing, is_approved) in &things {
            let mut delta = place.delta("- line");
            delta.visibility = thing.visibility;
            delta.sensitivity = thing.sensitivity;
            delta.produced_by = text(thing.producer);
            let id = memory::propose(company, &delta).unwrap().artifact_id;
            if *is_approved {
                memory::decide(company, &place.verdict(&id, ReviewDecision::Approved)).unwrap();
            }
            made.push((id, thing, *is_approved));
        }
        for actor in actors {
            let actor = actor.known(company).unwrap();
            let wanted = memory::DeltaQuery {
                actor: actor.clone(),
                project: None,
                status: DeltaFilter::All,
                limit: 100,
            };
            let listed = memory::list(company, wanted).unwrap();
            let listed_ids: Vec<&str> = listed.items.iter().map(|row| row.artifact_id.as_str()).collect();
            let job = Job {
                project_id: place.project.clone(),
                worker: None,
                manager: actor.clone(),
                kind: JobKind::Execution,
                goal: "Use the port".to_owned(),
                particulars: Vec::new(),
                seeds: Vec::new(),
                max_refs: Some(200),
            };
            let planned = context_plan::plan(company, &job, &by_words).unwrap();
            let given: Vec<&str> = planned.context_refs.iter().map(|one| one.value.as_str()).collect();
            for (id, thing, is_approved) in &mut made {
                let (may_read, may_give) = (thing.may_read(&actor), thing.may_give(&actor));
                let read = documents::read(company, &place.project, id, &actor, None);
                prop_assert_eq!(read.is_ok(), may_read, "{:?} {:?}", actor, read);
                prop_assert_eq!(listed_ids.contains(&id.as_str()), may_read);
                prop_assert_eq!(given.contains(&id.as_str()), may_give && *is_approved);
                let verdict = DocumentDecision {
                    actor: actor.clone(),
                    ..place.verdict(id, ReviewDecision::Approved)
                };
                let decided = inbox::resolve(company, &verdict, &RecordOnly);
                match (thing.may_decide(&actor), *is_approved) {
                    (false, _) => prop_assert!(
                        matches!(decided, Err(Error::Denied { .. })),
                        "{:?} {:?} {:?}", actor, thing.visibility, decided
                    ),
                    (true, true) => prop_assert!(
                        matches!(decided, Err(Error::AlreadyDecided { .. })), "{:?}", decided
                    ),
                    (true, false) => {
                        prop_assert!(decided.is_ok(), "{:?}", decided);
                        *is_approved = true;
                    }
                }
            }
            let hidden = things.iter().filter(|(thing, _)| !thing.may_read(&actor)).count() as u64;
            prop_assert_eq!(listed.filtered_by_policy_count, hidden);
        }
    }

    #[test]
    fn nobody_hears_of_comments_messages_and_events_the_table_forbids(
        things in prop::collection::vec(any_thing(), 1..6),
        actors in prop::collection::vec(any_actor(), 1..6),
    ) {
        let place = Place::new();
        let company = &place.company;
        let scope = ConversationScope::Project(place.project.clone());
        let mut channels = Vec::new();
        for (number, thing) in things.iter().enumerate() {
            let (_, role, _) = AGENTS.iter().find(|(id, ..)| *id == thing.producer).unwrap();
            let author = Actor { id: thing.producer.to_owned(), role: *role, team_id: None };
            comment::add(company, NewComment {
                project_id: place.project.clone(),
                author,
                body: format!("comment {number}"),
                agent_id: Some("agent_a".to_owned()),
                artifact_id: None,
                run_id: None,
                visibility: thing.visibility,
            }).unwrap();
            let channel = conversation::create_channel(company, &scope, NewChannel {
                name: format!("Channel {number}"),
                slug: format!("channel-{number}"),
                visibility: thing.visibility,
                created_by: text("human"),
                participants: Participants {
                    agent_ids: vec![text(thing.producer)],
                    team_ids: Vec::new(),
                },
            }).unwrap();
            let id = protocol::company::ConversationId::parse(&channel.id).unwrap();
            conversation::send(company, &scope, &id, NewMessage {
                author: human(),
                body: "hello".to_owned(),
                kind: MessageKind::Text,
                visibility: None,
                mentions: Vec::new(),
            }).unwrap();
            channels.push((id, thing));
        }
        for actor in actors {
            let actor = actor.known(company).unwrap();
            let wanted = comment::CommentQuery {
                project_id: place.project.clone(),
                agent_id: None,
                artifact_id: None,
                run_id: None,
                limit: 100,
                before: None,
                actor: Some(actor.clone()),
            };
            let heard: Vec<String> = comment::list(company, &wanted).unwrap()
                .iter().map(|comment| comment.body.to_string()).collect();
            for (number, thing) in things.iter().enumerate() {
                let public = Thing { sensitivity: Sensitivity::Public, ..*thing };
                prop_assert_eq!(
                    heard.contains(&format!("comment {number}")),
                    public.may_read(&actor)
                );
                let event = json!({
                    "type": "x", "visibility": thing.visibility, "actor": thing.producer,
                    "event_id": "evt_1", "ts_wallclock": "2024-01-01T00:00:00.000Z",
                });
                let filter = Filter { actor: Some(actor.clone()), ..Filter::default() };
                let is_told = filter.wants(&event.to_string()).is_some();
                prop_assert!(!is_told || public.may_read(&actor), "{:?}", actor);
            }
            let listed = conversation::list(company, &scope, Some(&actor)).unwrap();
            for (id, thing) in &channels {
                let is_member = actor.id == thing.producer;
                let may = match thing.visibility {
                    Visibility::Org => true,
                    Visibility::Managers => height(actor.role) >= 1 || is_member,
                    Visibility::Team | Visibility::PrivateAgent => {
                        height(actor.role) >= 3 || is_member
                    }
                };
                prop_assert_eq!(listed.iter().any(|one| one.id.as_str() == id.as_str()), may);
                let read = conversation::messages(company, &scope, id, 10, None, Some(&actor));
                prop_assert_eq!(read.is_ok(), may);
                let said = conversation::send(company, &scope, id, NewMessage {
                    author: actor.clone(),
                    body: "me too".to_owned(),
                    kind: MessageKind::Text,
                    visibility: None,
                    mentions: Vec::new(),
                });
                prop_assert_eq!(said.is_ok(), may, "{:?}", said.map(drop));
            }
        }
    }
}
