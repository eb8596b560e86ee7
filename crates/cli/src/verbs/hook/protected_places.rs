//! Files and folders that no tool of the agent may read or change, because the hook depends on them.

use std::path::{Path, PathBuf};

use super::coding_cli::CodingCli;
use super::files::HookFolder;
use super::resolved_path::resolve_or_keep;
use super::settings::{self, Folders};
use crate::data_dir::DataDir;

/// Returns the protected places of a hook, with all links followed.
pub(crate) fn list(
    cli: CodingCli,
    folders: &Folders,
    root: &Path,
    data: &DataDir,
    hooks: &HookFolder,
    program: &Path,
) -> Vec<PathBuf> {
    // The data folder contains the journal and the operator's token.
    let mut places = vec![data.path.clone(), hooks.path.clone(), program.to_owned()];
    // Settings of the project can turn off the hooks of the user.
    places.extend(settings::sources(cli, folders, root).into_iter().map(|source| source.path));
    match cli {
        // Lists of the folders and servers that the agent trusts.
        CodingCli::Claude => places.push(folders.home.join(".claude.json")),
        CodingCli::Gemini => {
            places
                .extend(["trustedFolders.json", "trusted_hooks.json"].map(|name| folders.gemini.join(name)));
        }
        CodingCli::Codex | CodingCli::Cursor => {}
    }
    let mut resolved: Vec<PathBuf> = Vec::new();
    for place in places.iter().map(|place| resolve_or_keep(place)) {
        if !resolved.contains(&place) {
            resolved.push(place);
        }
    }
    resolved
}
