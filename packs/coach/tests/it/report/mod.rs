//! Reports as a specification: the traced numbers, the elements that texts become, and the drawn charts.

mod charts;
mod markup;
mod page;
mod prose;
mod sample;
mod traced;
