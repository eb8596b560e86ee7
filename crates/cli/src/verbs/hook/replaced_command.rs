//! Decides if a command is tried, and replaces a command whose changes were released.

use std::time::Duration;

use anyhow::Context;
use holdshort_edges::hooks::{Cli, HookCall, Verdict};
use holdshort_protocol::Resolution;

use super::open_request::Asked;
use super::own_rules;
use super::request::{self, Prepared};
use super::session::Session;

/// Arguments with which a command runs in the background. The translation of the payload removes a flag that is false.
const FLAGS_OF_BACKGROUND: [&str; 2] = ["run_in_background", "is_background"];

impl Session<'_> {
    /// Returns the maximum time of the trial of a call. The error is the reason why the call is not tried, which the
    /// card quotes. `None`: the call is no command.
    pub(super) fn plan_trial(
        &self,
        call: &HookCall,
        prepared: &Prepared,
        is_permission: bool,
    ) -> Option<Result<Duration, String>> {
        let line = call.command()?;
        let title = self.cli.title();
        let is_background = FLAGS_OF_BACKGROUND.iter().any(|flag| call.arguments.get(*flag).is_some());
        let why = if is_permission {
            Some(format!("{title} itself asks about it"))
        } else if !call.can_edit && self.cli != Cli::Cursor {
            Some(format!("{title} cannot replace the command"))
        } else if is_background {
            Some("it runs in the background".to_owned())
        } else if prepared.is_shortened {
            Some("it is too long".to_owned())
        } else {
            let cwd = request::working_directory(&self.root, self.event, None);
            own_rules::why_untriable(self.coding_cli, &self.root, &cwd, line)
        };
        Some(match (why, self.trial_time) {
            (Some(why), _) => Err(why),
            (None, Some(time)) => Ok(time),
            (None, None) => Err("the hook was installed without trials".to_owned()),
        })
    }

    /// Answers with the command line that carries out the released changes.
    pub(super) fn release(
        &self,
        call: &HookCall,
        asked: &Asked,
        resolved: &Resolution,
        secret: &str,
    ) -> anyhow::Result<Verdict> {
        let mut arguments = call.arguments.clone();
        arguments["command"] = self.released.line(&asked.interrupt, secret).into();
        let released = call.edited(&arguments).context("the command cannot be replaced")?;
        let same = Prepared::new(self.cli, self.event, &released, &self.root).same;
        self.settle(&same, asked, resolved, None, None)?;
        Ok(Verdict::Allow { input: Some(released.original) })
    }
}
