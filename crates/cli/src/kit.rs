//! Parts for the screens of packs: the client, the output, prompts in a terminal, and the folder of a run's files.

pub use holdshort_engine::real::REHEARSAL;

pub use crate::called::holdshort;
pub use crate::client::Client;
pub use crate::exit::usage;
pub use crate::output::{error, say, say_all, tell, tell_all};
pub use crate::shell::quoted;
pub use crate::terminal::paint::Paint;
pub use crate::terminal::prompt::{Prompt, Reaction};
pub use crate::verbs::folder;
pub use crate::verbs::made_folders::MadeFolders;
