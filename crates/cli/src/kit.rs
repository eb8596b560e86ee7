//! Building blocks for the screens of packs: the client, the output, prompts in a terminal, and the folder for the
//! files of a run.

pub use holdshort_engine::real::REHEARSAL;

pub use crate::client::Client;
pub use crate::exit::usage;
pub use crate::output::{error, print_lines, print_message, print_message_lines, print_text};
pub use crate::program_name::holdshort;
pub use crate::shell::quoted;
pub use crate::terminal::paint::Paint;
pub use crate::terminal::prompt::{Prompt, Reaction};
pub use crate::verbs::folder;
pub use crate::verbs::made_folders::MadeFolders;
