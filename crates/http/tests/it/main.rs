//! Tests of the address guard, and of who may read secrets.

mod guard;
mod secret_file;
