//! The complete form of the MARS web UI, as the web UI sends it.

use holdshort_edges::mars::base;
use holdshort_edges::mars::config::translate;
use serde_json::{Value, json};

/// The complete form of the web UI is accepted in every mode, and keys without effect are reported (contract E40).
#[test]
fn the_whole_form_is_taken_in_every_mode() {
    let form: Value = serde_json::from_str(
        r#"{
        "model": "gpt-4.1", "maxRounds": 25, "maxAttempts": 6, "agent": "engineer", "workDir": "/w",
        "defaultModel": "gpt-4.1", "defaultFormatterModel": "o3-mini", "maxPlanSteps": 2, "nPlanReviews": 1,
        "planInstructions": "", "plannerModel": "gpt-4.1", "researcherModel": "gpt-4.1",
        "planReviewerModel": "o3-mini", "ideaMakerModel": "gpt-4.1", "ideaHaterModel": "o3-mini",
        "hitlVariant": "full_interactive", "maxHumanIterations": 3, "approvalMode": "both",
        "allowPlanModification": true, "allowStepSkip": true, "allowStepRetry": true, "showStepContext": true,
        "availableAgents": ["engineer", "researcher"], "enablePlanning": true, "complexityThreshold": 50,
        "continuousMode": false, "maxTurns": 20, "autoApproveSimple": true, "engineerInstructions": "",
        "researcherInstructions": null, "saveMarkdown": true, "saveJson": true, "saveText": false,
        "maxWorkers": 4, "maxDepth": 10, "ocrOutputDir": "", "summarizerModel": "gpt-4.1",
        "toolApproval": "none", "intelligentRouting": "balanced", "conversational": false,
        "copilotSessionId": null, "useDynamicRouting": true, "controlModel": "gpt-4.1", "sessionName": null
    }"#,
    )
    .unwrap();
    for (mode, phases, idle) in [
        ("one-shot", "one_shot", "approvalMode hitlVariant ideaMakerModel maxPlanSteps plannerModel"),
        ("planning-control", "planning control", "agent approvalMode hitlVariant ideaMakerModel"),
        ("idea-generation", "idea_generation", "agent approvalMode hitlVariant maxPlanSteps researcherModel"),
        ("hitl-interactive", "hitl_planning hitl_control", "agent ideaMakerModel"),
        ("copilot", "copilot", "agent hitlVariant nPlanReviews maxTurns"),
    ] {
        let mut config = form.clone();
        config["mode"] = json!(mode);
        let translated = translate(config.as_object().unwrap(), &base().unwrap()).unwrap();
        let found: Vec<&str> = translated.definition.phases.iter().map(|phase| phase.id.as_str()).collect();
        assert_eq!(found.join(" "), phases, "{mode}");
        let named: Vec<&str> = translated.idle.iter().map(|idle| idle.key.as_str()).collect();
        let whys = translated.idle.iter().all(|idle| !idle.why.is_empty());
        let always = "saveMarkdown maxWorkers defaultModel maxTurns";
        for key in idle.split(' ').chain(always.split(' ')) {
            assert!(named.contains(&key) && whys, "{mode}: {key} in {named:?}");
        }
        for key in ["mode", "model", "workDir", "maxRounds", "toolApproval", "copilotSessionId"] {
            assert!(!named.contains(&key), "{mode}: {key} in {named:?}");
        }
        // Keys that have an effect only for a copilot.
        for key in
            ["availableAgents", "enablePlanning", "complexityThreshold", "intelligentRouting", "controlModel"]
        {
            assert_eq!(named.contains(&key), mode != "copilot", "{mode}: {key} in {named:?}");
        }
    }
}
