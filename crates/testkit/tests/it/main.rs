//! The test kit's own tests, and the acceptance cases over the real binary that are made of it.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod cases;
mod cluster;
mod codelab;
mod crash;
mod damage;
mod deciding;
mod demo;
mod disk;
mod docs;
mod effects;
mod endings;
mod files;
mod flows;
mod fuzz;
mod halves;
mod interrupting;
mod kills;
mod limits;
mod long;
mod long_sessions;
mod mars;
mod matrix;
mod model;
mod oversight;
mod plans;
mod play;
mod python;
mod replies;
mod restart;
mod rush;
mod sandbox;
mod sim;
mod startup;
mod stopping;
mod stops;
mod trials;
mod tried;
mod undo;
mod verbs;
mod versions;
mod web;
