//! Checks the templates in a rehearsal script: their syntax, and that each variable exists when the template is used.
//! Never renders a template.

use std::collections::BTreeSet;

use minijinja::Environment;

use crate::item::Item;
use crate::problem::Problems;

const VARIABLES: [&str; 4] = ["task", "results", "last", "messages"];
/// Functions of minijinja that a template of a rehearsal script may use.
const FUNCTIONS: [&str; 3] = ["range", "dict", "namespace"];

/// Reports problems of a template in a rehearsal script: invalid syntax, unknown variables, and each `results.LABEL`
/// without an earlier call that has this label.
pub(super) fn check(text: &str, item: &Item<'_>, labels: &BTreeSet<String>, problems: &mut Problems) {
    let environment = Environment::new();
    let template = match environment.template_from_str(text) {
        Ok(template) => template,
        Err(error) => {
            let line = error.line().map(|line| format!(", line {line} of the template")).unwrap_or_default();
            let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
            problems.at(item, format!("not a valid template: {detail}{line}"));
            return;
        }
    };
    let used: BTreeSet<String> = template.undeclared_variables(true).into_iter().collect();
    for variable in &used {
        let mut parts = variable.split('.');
        let name = parts.next().unwrap_or_default();
        if FUNCTIONS.contains(&name) {
            continue;
        }
        if !VARIABLES.contains(&name) {
            problems.unknown(item, name, format!("templates have no variable `{name}`"), VARIABLES);
        } else if name == "results"
            && let Some(label) = parts.next().filter(|label| !labels.contains(*label))
        {
            let message = format!("no call before this one is labelled `{label}`");
            problems.unknown(item, label, message, labels.iter().map(String::as_str));
        }
    }
}
