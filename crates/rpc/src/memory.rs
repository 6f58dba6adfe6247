//! A connection inside the process, for tests and for commands that need no socket.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::{Client, Service, Text, envelope::Rules, lane::Lane, outbox::Outgoing};

/// Connects a client to a service.
pub fn connect<S: Service>(service: Arc<S>) -> Client {
    let (to_service, mut from_client) = mpsc::channel::<Text>(64);
    let (to_client, from_service) = mpsc::channel::<Text>(64);
    tokio::spawn(async move {
        let lane = Lane::new(service, Rules::Socket, crate::MAX_CONCURRENT);
        let reading = async {
            while let Some(text) = from_client.recv().await {
                lane.take(&text).await;
            }
        };
        let writing = async {
            while let Ok(outgoing) = lane.outbox().next().await {
                for one in outgoing {
                    // Tests of binary frames use a real socket.
                    let Outgoing::Text(text) = one else { continue };
                    if to_client.send(text).await.is_err() {
                        return;
                    }
                }
            }
        };
        tokio::select! {
            () = reading => {}
            () = writing => {}
        }
    });
    Client::new(to_service, from_service)
}
