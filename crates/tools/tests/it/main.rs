//! The tools as a specification: what each refuses, shows, does, and leaves undone.

mod bench;
mod catalogue;
mod changes;
mod commands;
mod confinement;
mod paths;
mod reading;
mod workspace;
