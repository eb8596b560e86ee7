//! Models in a client's config that the server's provider does not have (contract E40). The web UI sends the names of
//! its own default models with every task, and a user cannot choose other names. A task that names one of these models
//! must therefore not be rejected.

use holdshort_core::definition::Definition;
use holdshort_models::{Description, provider_of};
use serde_json::{Map, Value};

use super::UnusedKey;
use super::raw_config::canonical;

/// Providers of models, each with its key in MARS configs and its display name.
const NAMES: [(&str, &str); 3] = [("openai", "OpenAI"), ("anthropic", "Anthropic"), ("gemini", "Gemini")];

/// Removes from a config the model names of all providers except the provider of the server's model. Returns the
/// removed keys. The server's model, and the models that the server's workflow `base` names, are never removed.
pub(in super::super) fn remove_foreign_models(
    config: &mut Map<String, Value>,
    base: &Definition,
    server: &Description,
) -> Vec<UnusedKey> {
    // A rehearsal plays its script for every model name, so it needs no change of the config.
    if server.rehearsal {
        return Vec::new();
    }
    let own = match server.provider {
        "openai-compatible" => provider_of(&server.name),
        provider => NAMES.iter().map(|(key, _)| *key).find(|key| *key == provider),
    };
    let mut removed = Vec::new();
    config.retain(|key, value| {
        let foreign = value.as_str().filter(|name| names_model(base, key) && !is_offered(base, server, name));
        let provider = foreign.and_then(provider_of).filter(|provider| Some(*provider) != own);
        let Some((_, provider)) = provider.and_then(|key| NAMES.iter().find(|(of, _)| *of == key)) else {
            return true;
        };
        let why = format!(
            "is not used: `{}` is a model of {provider}, and this server uses `{}`",
            value.as_str().unwrap_or_default(),
            server.name
        );
        removed.push(UnusedKey { key: key.clone(), why });
        false
    });
    removed
}

/// Returns true if a config key sets the model of the run or of an agent.
fn names_model(base: &Definition, key: &str) -> bool {
    let name = canonical(key);
    let agent = name.strip_suffix("_model");
    name == "model" || agent.is_some_and(|agent| agent == "control" || base.agents.contains_key(agent))
}

fn is_offered(base: &Definition, server: &Description, name: &str) -> bool {
    let of_agents = base.agents.values().filter_map(|agent| agent.model.as_deref());
    name == server.name || base.models.contains_key(name) || of_agents.into_iter().any(|of| of == name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mars::start::shipped;

    #[test]
    fn only_models_of_other_providers_are_removed() {
        let base = shipped().unwrap();
        let sent = json!({
            "model": "gpt-4.1-2025-04-14", "plannerModel": "claude-sonnet-4", "engineer_model": "gemini-2.5-pro",
            "researcherModel": "llama3", "controlModel": "o3-mini", "defaultModel": "gpt-4o", "agent": "gpt-4o",
        });
        let table = [
            ("openai", "gpt-4o", false, vec!["engineer_model", "plannerModel"]),
            ("anthropic", "claude-opus-4", false, vec!["controlModel", "engineer_model", "model"]),
            ("gemini", "gemini-2.5-flash", false, vec!["controlModel", "model", "plannerModel"]),
            ("ollama", "llama3", false, vec!["controlModel", "engineer_model", "model", "plannerModel"]),
            ("openai-compatible", "gpt-4o", false, vec!["engineer_model", "plannerModel"]),
            (
                "openai-compatible",
                "qwen3",
                false,
                vec!["controlModel", "engineer_model", "model", "plannerModel"],
            ),
            ("rehearsal", "rehearsal", true, vec![]),
        ];
        for (provider, name, rehearsal, expected) in table {
            let server = Description { name: name.to_owned(), provider, rehearsal, base_url: None };
            let mut config = sent.as_object().unwrap().clone();
            let removed = remove_foreign_models(&mut config, &base, &server);
            let mut keys: Vec<&str> = removed.iter().map(|removed| removed.key.as_str()).collect();
            keys.sort_unstable();
            assert_eq!(keys, expected, "{provider} {name}");
            assert!(keys.iter().all(|key| !config.contains_key(*key)));
            assert_eq!(config.len() + keys.len(), 7);
            assert!(
                removed.iter().all(|removed| removed.why.ends_with(&format!("this server uses `{name}`")))
            );
        }
    }

    #[test]
    fn a_model_of_the_servers_workflow_stays() {
        let mut base = shipped().unwrap();
        base.agents.get_mut("researcher").unwrap().model = Some("claude-sonnet-4".to_owned());
        let server = Description {
            name: "qwen3".to_owned(),
            provider: "openai-compatible",
            rehearsal: false,
            base_url: None,
        };
        let sent = json!({"engineer_model": "claude-sonnet-4", "model": "qwen3", "planner_model": ""});
        let mut config = sent.as_object().unwrap().clone();
        assert!(remove_foreign_models(&mut config, &base, &server).is_empty());
        assert_eq!(Value::Object(config), sent);
    }
}
