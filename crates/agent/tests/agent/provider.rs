//! Each provider against an HTTP server on a real socket.

mod anthropic;
mod gemini;
mod openai;
