//! Tests of the address guard, of who may read secrets, and of what answers say.

mod answers;
mod guard;
mod secret_file;
