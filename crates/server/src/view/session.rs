//! Grants as clients see them.

use holdshort_core::id::SessionId;
use holdshort_core::session::Grant;
use holdshort_protocol as wire;

pub(crate) fn grant(session: &SessionId, grant: &Grant) -> wire::Grant {
    wire::Grant {
        id: grant.id.to_string(),
        session: session.to_string(),
        tool: grant.matcher.tool.clone(),
        workspace: grant.matcher.workspace.clone(),
        commands: grant
            .matcher
            .commands
            .iter()
            .map(|command| wire::GrantCommand {
                program: command.program.clone(),
                subcommand: command.subcommand.clone(),
                writes: command.writes,
                files: command.files.clone(),
            })
            .collect(),
        owner: grant.owner.clone(),
        run: grant.run.to_string(),
        interrupt: grant.interrupt.to_string(),
        added_at: grant.added_at.to_string(),
        revoked_at: grant.revoked_at.map(|at| at.to_string()),
    }
}
