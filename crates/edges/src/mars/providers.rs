//! Routes that the web UI requests before its first frame (contract A33): the providers of models and their states, and
//! the names of the models. The UI sends tasks only if the provider `openai` is valid. In the responses about
//! providers, `openai` therefore stands for the server's model, no matter which provider it has. The API keys of the
//! server are never sent to a client, and an API key that a person enters in the UI is not used.

use axum::Json;
use holdshort_core::pricing::DEFAULT;
use holdshort_models::Description;
use holdshort_web::app::App;
use holdshort_web::body::Body;
use holdshort_web::problem::Answer;
use holdshort_web::query::Params;
use serde_json::{Map, Value, json};

use super::caller::{NoQuery, person};
use super::config::WORKFLOW;
use super::start;
use crate::credentials::AuthenticatedCaller;

/// Providers that the UI lists. Each row: the key in the response, the display name, and the server's provider for this
/// key. `None` means that the server has no provider for this key.
const PROVIDERS: [(&str, &str, Option<&str>); 5] = [
    ("openai", "OpenAI", None),
    ("azure_openai", "Azure OpenAI", None),
    ("azure_openai_fallback", "Azure OpenAI (fallback)", None),
    ("anthropic", "Anthropic", Some("anthropic")),
    ("vertex", "Vertex AI", Some("gemini")),
];
/// Key under which the responses contain the server's model.
const OWN: &str = "openai";

#[derive(Clone, Debug, PartialEq, Eq)]
enum ModelState {
    /// A model is configured. If the model's configuration contains a URL, the server at this URL responds.
    Usable,
    /// No model is configured, and the agents replay the script of the server's workflow.
    Rehearsed,
    Missing,
    /// The server at the model's URL does not respond. Contains the reason.
    Silent(String),
}

impl ModelState {
    async fn read(app: &App) -> Self {
        if app.model.rehearsal {
            let is_played = app.library.has_rehearsal(WORKFLOW);
            return if is_played { Self::Rehearsed } else { Self::Missing };
        }
        match &app.model.base_url {
            Some(url) => match holdshort_models::answers(url).await {
                Ok(()) => Self::Usable,
                Err(why) => Self::Silent(why),
            },
            None => Self::Usable,
        }
    }
}

/// Returns the result for the server's own model in the form that the UI shows.
fn own_result(state: &ModelState, model: &Description) -> Value {
    let Description { name, provider, base_url, .. } = model;
    let at = base_url.as_deref().map(|url| format!(" at {url}")).unwrap_or_default();
    match state {
        ModelState::Usable => json!({
            "status": "valid",
            "message": format!("This server uses {name} ({provider}){at}. Its key stays on the server."),
        }),
        ModelState::Rehearsed => json!({
            "status": "valid",
            "message": "This server has no model: agents play the script of the workflow `mars`.",
        }),
        ModelState::Missing => json!({
            "status": "not_configured",
            "message": "This server has no model: start it with --model NAME.",
        }),
        ModelState::Silent(why) => json!({
            "status": "error",
            "message": format!("The model server{at} does not respond."),
            "error_details": why,
        }),
    }
}

/// `GET /api/credentials/status`: returns the state of each model provider that the UI lists.
pub(super) async fn status(guest: AuthenticatedCaller, _: Params<NoQuery>) -> Answer<Json<Value>> {
    let app = person(guest)?.app;
    let state = ModelState::read(&app).await;
    let results = results(&state, &app.model);
    let count = |status: &str| results.values().filter(|each| each["status"] == *status).count();
    let summary = json!({
        "total": results.len(), "valid": count("valid"), "invalid": count("invalid"),
        "not_configured": count("not_configured"), "errors": count("error"),
    });
    let timestamp = app.now().as_millis() / 1_000;
    Ok(Json(json!({ "status": "success", "summary": summary, "results": results, "timestamp": timestamp })))
}

fn results(state: &ModelState, model: &Description) -> Map<String, Value> {
    let result = |(key, name, stands_for): (&str, &str, Option<&str>)| {
        let is_own = key == OWN || (stands_for == Some(model.provider) && *state != ModelState::Rehearsed);
        let mut result = if is_own {
            own_result(state, model)
        } else {
            json!({ "status": "not_configured", "message": "This server does not use this provider." })
        };
        result["provider"] = name.into();
        (key.to_owned(), result)
    };
    PROVIDERS.into_iter().map(result).collect()
}

/// `GET /api/models/config`: returns the server's model, and the models that the server's workflow `mars` names.
pub(super) async fn models(guest: AuthenticatedCaller, _: Params<NoQuery>) -> Answer<Json<Value>> {
    let app = person(guest)?.app;
    let base = start::base(&app)?;
    let named = base.models.keys().map(String::as_str).filter(|name| *name != DEFAULT);
    let own = Some(app.model.name.as_str()).filter(|_| !app.model.rehearsal);
    let mut models: Vec<&str> = own.into_iter().collect();
    models.extend(named.filter(|name| Some(*name) != own));
    let models: Vec<Value> = models.iter().map(|name| json!({ "value": name, "label": name })).collect();
    Ok(Json(json!({ "available_models": models, "global_defaults": {}, "workflow_defaults": {} })))
}

/// `POST /api/credentials/test`: rejects the API keys in the request. The UI shows results only from a successful
/// response. The response is therefore successful, and the result for each provider is the rejection.
pub(super) async fn test_keys(
    guest: AuthenticatedCaller,
    _: Params<NoQuery>,
    body: Body,
) -> Answer<Json<Value>> {
    refuse_keys(guest, body, "results").await
}

/// `POST /api/credentials/store`: rejects the API keys in the request in the same way as [`test_keys`].
pub(super) async fn store_keys(
    guest: AuthenticatedCaller,
    _: Params<NoQuery>,
    body: Body,
) -> Answer<Json<Value>> {
    refuse_keys(guest, body, "test_results").await
}

/// Returns a response whose member `member`, which the UI shows, contains the rejection of API keys. The request body
/// contains the keys, so it is discarded without being parsed.
async fn refuse_keys(guest: AuthenticatedCaller, body: Body, member: &str) -> Answer<Json<Value>> {
    person(guest)?;
    drop(body.bytes().await?);
    let message = "Not stored: this server accepts no keys from a page. Set the key in the server's environment, and \
                   start the server with --model NAME.";
    let result = |(key, name, _): (&str, &str, Option<&str>)| {
        (key.to_owned(), json!({ "provider": name, "status": "error", "message": message }))
    };
    let results: Map<String, Value> = PROVIDERS.into_iter().map(result).collect();
    Ok(Json(json!({ "status": "error", "message": message, "updates": {}, member: results })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(provider: &'static str, base_url: Option<&str>) -> Description {
        let base_url = base_url.map(str::to_owned);
        Description { name: "m".to_owned(), provider, rehearsal: provider == "rehearsal", base_url }
    }

    /// The UI of MARS sends tasks if the provider `openai` is valid, and offers the models of the other valid
    /// providers.
    #[test]
    fn the_own_model_is_what_lets_the_page_send_a_task() {
        let local = Some("http://127.0.0.1:1/v1");
        let silent = ModelState::Silent("connection refused".to_owned());
        let table = [
            (ModelState::Usable, model("openai", None), ["valid", "not_configured", "not_configured"]),
            (ModelState::Usable, model("ollama", local), ["valid", "not_configured", "not_configured"]),
            (ModelState::Usable, model("anthropic", None), ["valid", "valid", "not_configured"]),
            (ModelState::Usable, model("gemini", None), ["valid", "not_configured", "valid"]),
            (ModelState::Rehearsed, model("rehearsal", None), ["valid", "not_configured", "not_configured"]),
            (ModelState::Missing, model("rehearsal", None), ["not_configured"; 3]),
            (silent, model("ollama", local), ["error", "not_configured", "not_configured"]),
        ];
        for (state, model, expected) in table {
            let results = results(&state, &model);
            let found = ["openai", "anthropic", "vertex"].map(|key| results[key]["status"].clone());
            assert_eq!(found, expected.map(Value::from), "{state:?} {model:?}");
            assert!(
                ["azure_openai", "azure_openai_fallback"]
                    .iter()
                    .all(|key| { results[*key]["status"] == "not_configured" })
            );
        }
    }
}
