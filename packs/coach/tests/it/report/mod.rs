//! Reports as a specification: traced numbers, the HTML of agents' texts, and the charts.

mod charts;
mod markup;
mod page;
mod prose;
mod sample;
mod traced;
