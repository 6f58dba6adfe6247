//! Tests of the gateway through clients. The path of a test follows the name of its method; rules for all methods and for
//! the source are beside them.

mod access;
mod artifact;
mod catalogue;
mod company;
#[path = "../../../company/tests/company/damage.rs"]
mod damage;
#[path = "../../../company/tests/company/filled/folder.rs"]
mod filled;
mod http;
mod layers;
mod linking;
mod provider;
mod session;
mod thread;
mod tidy;
mod trash;
mod turn;
mod worker;
mod workspace;
