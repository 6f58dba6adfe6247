//! `echo`: a provider that repeats the user's message.
//!
//! It needs no API key and no network, and it is the default provider.

use std::pin::Pin;

use futures_util::stream;
use protocol::MaySpend;

use super::{
    Availability, FinishReason, Model, ModelEvent, ModelRequest, ModelStream, Provider,
    ProviderError, Role, Usage,
};

/// The maximum length of one text event, in characters.
const PIECE: usize = 32;

/// The `echo` provider.
#[derive(Debug, Default)]
pub struct Echo;

impl Provider for Echo {
    fn id(&self) -> &'static str {
        "echo"
    }

    fn title(&self) -> &'static str {
        "Echo"
    }

    fn availability(&self) -> Availability {
        Availability::Ready
    }

    fn models(
        &self,
        _may: MaySpend,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<Model>, ProviderError>> + Send + '_>> {
        let model = Model {
            id: "echo".to_owned(),
            title: "Echo".to_owned(),
        };
        Box::pin(async move { Ok(vec![model]) })
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let asked = request
            .messages
            .iter()
            .rev()
            .find(|message| message.role == Role::User);
        let text = asked
            .map(|message| message.text.clone())
            .unwrap_or_default();
        let length = text.chars().count() as u64;
        let usage = Usage {
            input_tokens: length,
            cached_input_tokens: 0,
            output_tokens: length,
        };
        let mut pieces: Vec<_> = pieces(&text)
            .map(|piece| ModelEvent::Text(piece.to_owned()))
            .collect();
        pieces.push(ModelEvent::Usage(usage));
        pieces.push(ModelEvent::Finished(FinishReason::Stop));
        let pieces = stream::unfold(pieces.into_iter(), |mut pieces| async move {
            // Yielding between two events lets other tasks run and lets the turn observe a cancellation.
            tokio::task::yield_now().await;
            let piece = pieces.next()?;
            Some((Ok(piece), pieces))
        });
        Box::pin(pieces)
    }
}

/// Splits a text into pieces of at most [`PIECE`] characters; concatenated they equal the text.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest
            .char_indices()
            .nth(PIECE)
            .map_or(rest.len(), |(end, _)| end);
        let (piece, next) = rest.split_at(end);
        rest = next;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_to_the_text() {
        for text in ["", "short", &"Ärger 😀\n\n  two ".repeat(30)] {
            let cut: Vec<_> = pieces(text).collect();
            assert_eq!(cut.concat(), *text);
            assert!(cut.iter().all(|piece| piece.chars().count() <= PIECE));
        }
    }
}
