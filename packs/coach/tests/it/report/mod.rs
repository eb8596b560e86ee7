//! Reports as a specification: which numbers are traced, what of a text becomes an element, how charts are drawn.

mod charts;
mod markup;
mod page;
mod prose;
mod sample;
mod traced;
