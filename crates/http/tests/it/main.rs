//! Tests of the address guard, of secret files and of answers.

mod answers;
mod guard;
mod secret_file;
