//! An in-process connection, for tests and for commands that need no socket.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::{Client, Service, envelope::Rules, outbox::Outgoing, request_queue::RequestQueue};

/// Connects a client to a service over in-memory channels. Must be called within a tokio runtime.
pub fn connect<S: Service>(service: Arc<S>) -> Client {
    let (to_service, mut from_client) = mpsc::channel::<Outgoing>(64);
    let (to_client, from_service) = mpsc::channel::<Outgoing>(64);
    tokio::spawn(async move {
        let queue = RequestQueue::new(Arc::clone(&service), Rules::Socket, crate::MAX_CONCURRENT);
        let reading = async {
            while let Some(one) = from_client.recv().await {
                match one {
                    Outgoing::Text(text) => queue.take(&text).await,
                    Outgoing::Binary(frame) => service.binary(frame).await,
                    // Clients never send file frames.
                    Outgoing::File(_) => {}
                }
            }
        };
        let writing = async {
            while let Ok(outgoing) = queue.outbox().next().await {
                for one in outgoing {
                    let one = match one {
                        Outgoing::File(frame) => {
                            let read = tokio::task::spawn_blocking(move || frame.read()).await;
                            let Ok(Ok(bytes)) = read else { return };
                            Outgoing::Binary(bytes)
                        }
                        one @ (Outgoing::Text(_) | Outgoing::Binary(_)) => one,
                    };
                    if to_client.send(one).await.is_err() {
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
