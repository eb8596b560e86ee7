//! Tests of the address guard, of secret files, and of responses.

mod answers;
mod guard;
mod secret_file;
