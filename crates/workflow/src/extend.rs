//! `extends`: a workflow that changes a few keys of another workflow. The YAML trees of the two files are merged before
//! their content is read.
//!
//! | key | effect of a value in the file on the extended workflow |
//! |---|---|
//! | `agents`, `gates`, `limits`, `models` | replaces each key that it names |
//! | `phases`, `tools` | replaces entries with the same `id` or `name`; other entries follow |
//! | any other | replaces the value |
//!
//! The extended workflow must not itself extend another one, so a reader needs at most two files.

use std::collections::BTreeMap;

use crate::bounds;
use crate::item::Item;
use crate::problem::Problems;
use crate::shipped::{self, Shipped};
use crate::yaml::{self, Node, Value};

pub(crate) const KEY: &str = "extends";
const BY_KEY: [&str; 4] = ["agents", "gates", "limits", "models"];

/// Texts of the workflows that a file may extend.
pub(crate) struct Bases {
    shipped: BTreeMap<&'static str, &'static str>,
    /// Workflows in the server's workflow folder. They have precedence over shipped workflows with the same name.
    others: BTreeMap<String, String>,
}

impl Bases {
    /// Returns the shipped workflows, which a file may extend: those of the program and those of packs.
    pub(crate) fn shipped(packs: &[&'static Shipped]) -> Self {
        Self { shipped: shipped::texts(packs).collect(), others: BTreeMap::new() }
    }

    pub(crate) fn none() -> Self {
        Self { shipped: BTreeMap::new(), others: BTreeMap::new() }
    }

    /// Adds workflows that a file may extend. Each text contains the name of its workflow.
    pub(crate) fn and<'t>(self, texts: impl Iterator<Item = &'t str>) -> Self {
        let name = |text| workflow_name(&yaml::parse(text, bounds::WORKFLOW_BYTES).ok()?);
        let others = texts.filter_map(|text| Some((name(text)?, text.to_owned())));
        Self { others: others.collect(), ..self }
    }

    /// Returns the text of the workflow with the name `base`, which another workflow extends. `own` is the name of the
    /// extending workflow. A workflow that replaces a shipped one can extend the shipped one.
    fn find(&self, base: &str, own: Option<&str>) -> Option<&str> {
        let other = self.others.get(base).filter(|_| own != Some(base));
        other.map(String::as_str).or_else(|| self.shipped.get(base).copied())
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.others.keys().map(String::as_str).chain(self.shipped.keys().copied())
    }
}

/// Returns the YAML tree of a workflow, merged with the workflow that it extends. If this is impossible, reports a
/// problem and returns the tree unmerged.
pub(crate) fn resolve(
    own: Node,
    bases: &Bases,
    is_good: impl Fn(&str) -> bool,
    problems: &mut Problems,
) -> Result<Node, Node> {
    let Some(extended) = value(&own, KEY) else { return Ok(own) };
    match base(&own, extended, bases, is_good, problems) {
        Some(base) => Ok(merged(base, own)),
        None => Err(own),
    }
}

fn base(
    own: &Node,
    extended: &Node,
    bases: &Bases,
    is_good: impl Fn(&str) -> bool,
    problems: &mut Problems,
) -> Option<Node> {
    let item = Item::top(own).under(KEY, extended);
    let name = item.text(bounds::NAME, problems)?;
    let own_name = workflow_name(own);
    let Some(text) = bases.find(&name, own_name.as_deref()) else {
        if own_name.as_ref() == Some(&name) {
            problems.at(&item, format!("`{name}` would extend itself"));
        } else {
            problems.unknown(&item, &name, format!("there is no workflow `{name}` to extend"), bases.names());
        }
        return None;
    };
    let read = yaml::parse(text, bounds::WORKFLOW_BYTES).ok();
    if read.as_ref().is_some_and(|base| value(base, KEY).is_some()) {
        problems.at(
            &item,
            format!(
                "`{name}` itself extends another workflow; extend that other workflow \
            instead"
            ),
        );
        return None;
    }
    let Some(mut base) = read.filter(|_| is_good(text)) else {
        problems.at(&item, format!("the extended workflow `{name}` is not valid: correct its problems"));
        return None;
    };
    base.inherit();
    problems.extends(&name, item.node.place);
    Some(base)
}

fn merged(mut base: Node, own: Node) -> Node {
    let place = own.place;
    match (&mut base.value, own.value) {
        (Value::Map(entries), Value::Map(own)) => {
            // The name of the base is not inherited.
            entries.retain(|(key, _)| !is(key, "name"));
            put(entries, own.into_iter(), |key, base, own| match key {
                "phases" => by_name("id", base, own),
                "tools" => by_name("name", base, own),
                key if BY_KEY.contains(&key) => by_key(base, own),
                _ => own,
            });
        }
        (_, value) => base.value = value,
    }
    Node { place, ..base }
}

/// Merges entries of a workflow into those of the extended workflow: replaces entries with equal keys, and appends all
/// other entries. Duplicate keys are kept, so that the reader of the mapping can report them.
fn put(
    entries: &mut Vec<(Node, Node)>,
    own: impl Iterator<Item = (Node, Node)>,
    merge: impl Fn(&str, Node, Node) -> Node,
) {
    let inherited = entries.len();
    let mut replaced = vec![false; inherited];
    for (key, value) in own {
        let text = if let Value::Text(text) = &key.value { Some(text.clone()) } else { None };
        let found = text.and_then(|text| {
            let at = entries[..inherited].iter().position(|(other, _)| is(other, &text))?;
            (!replaced[at]).then_some((at, text))
        });
        match found {
            Some((at, text)) => {
                replaced[at] = true;
                let base = std::mem::replace(&mut entries[at].1, Node::nothing());
                entries[at] = (key, merge(&text, base, value));
            }
            None => entries.push((key, value)),
        }
    }
}

fn by_key(mut base: Node, own: Node) -> Node {
    let place = own.place;
    match (&mut base.value, own.value) {
        (Value::Map(entries), Value::Map(own)) => put(entries, own.into_iter(), |_, _, own| own),
        (_, value) => base.value = value,
    }
    Node { place, ..base }
}

fn by_name(key: &str, mut base: Node, own: Node) -> Node {
    let place = own.place;
    match (&mut base.value, own.value) {
        (Value::List(items), Value::List(own)) => {
            for item in own {
                let name = text(&item, key);
                let is_replaced =
                    |base: &Node| base.place.inherited && name.is_some() && text(base, key) == name;
                match items.iter().position(is_replaced) {
                    Some(at) => items[at] = item,
                    None => items.push(item),
                }
            }
        }
        (_, value) => base.value = value,
    }
    Node { place, ..base }
}

fn value<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Value::Map(entries) = &node.value else { return None };
    entries.iter().find(|(name, _)| is(name, key)).map(|(_, value)| value)
}

fn text(node: &Node, key: &str) -> Option<String> {
    if let Value::Text(text) = &value(node, key)?.value { Some(text.clone()) } else { None }
}

fn workflow_name(top: &Node) -> Option<String> {
    text(top, "name")
}

fn is(key: &Node, name: &str) -> bool {
    matches!(&key.value, Value::Text(text) if text == name)
}
