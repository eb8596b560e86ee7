//! Problems of invalid workflows, word for word: one table of texts and problems.

/// An invalid workflow, whose first line is line 1, with the expected problems.
pub(crate) struct Case {
    pub(crate) about: &'static str,
    pub(crate) text: &'static str,
    pub(crate) says: &'static [&'static str],
}

pub(crate) const CASES: &[Case] = &[
    Case {
        about: "an empty file",
        text: "",
        says: &[
            "workflow.yaml:1:1: expected a mapping, found nothing",
        ],
    },
    Case {
        about: "calls that no model makes",
        text: "name: a\nagents:\n  solo: {instructions: Work., tools: [read_file]}\nphases:\n  - {id: one, kind: call, agent: solo, needs: []}\n  - {id: two, kind: call, tool: pack_revew, agent: solo, limits: {rounds: 2}}\n  - {id: three, kind: call, tool: write_file, agent: sol}\n  - {id: four, kind: call, tool: read_file}\n  - {id: five, kind: call, tool: pack_review, agent: solo, gates: {review: {options: [approve, reject]}, before_step: ask}}\nresult: fiv\n",
        says: &[
            "workflow.yaml:5:5: the key `tool` is missing",
            "workflow.yaml:6:33: there is no tool `pack_revew` (did you mean `pack_review`?)",
            "workflow.yaml:6:66: `limits` has no effect in a phase of the kind `call`",
            "workflow.yaml:7:35: `write_file` is not a read-only tool that runs in Holdshort",
            "workflow.yaml:7:54: there is no agent `sol` (did you mean `solo`?)",
            "workflow.yaml:8:5: the key `agent` is missing",
            "workflow.yaml:9:119: `before_step` has no effect in a phase of the kind `call`",
            "workflow.yaml:10:9: there is no phase `fiv` (did you mean `five`?)",
        ],
    },
    Case {
        about: "no YAML",
        text: "name: [a\nphases: }",
        says: &[
            "workflow.yaml:2:7: not readable as YAML: illegal placement of ':' indicator",
        ],
    },
    Case {
        about: "a tab",
        text: "name: a\nagents:\n\tsolo: {}\n",
        says: &[
            "workflow.yaml:3:2: not readable as YAML: tabs disallowed within this context (block indentation)",
        ],
    },
    Case {
        about: "two documents",
        text: "name: a\n---\nname: b\n",
        says: &[
            "workflow.yaml:3:1: not readable as YAML: a file may contain only one YAML document",
        ],
    },
    Case {
        about: "a merge key",
        text: "name: a\n<<: {phases: []}\n",
        says: &[
            "workflow.yaml:2:1: not readable as YAML: merge key not allowed here",
        ],
    },
    Case {
        about: "a tag",
        text: "name: !secret a\n",
        says: &[
            "workflow.yaml:1:15: not readable as YAML: unsupported tag `!secret`",
        ],
    },
    Case {
        about: "a recursive alias",
        text: "name: &a [*a]\n",
        says: &[
            "workflow.yaml:1:11: not readable as YAML: Recursive reference not allowed here",
        ],
    },
    Case {
        about: "an unknown alias",
        text: "name: *nobody\n",
        says: &[
            "workflow.yaml:1:7: not readable as YAML: reference to unknown value",
        ],
    },
    Case {
        about: "misspelt keys, everywhere",
        text: "
nam: a
agnets:
  solo: {instruction: Work., tools: [read_file]}
phases:
  - {id: work, kind: one_shot, agent: solo, need: []}
gates: {befor_step: ask, tool_aproval: {label: {}}, rules: [{tool: [read_file], do: ask}]}
limits: {round: 3, budget: {token: 4}}
asking: {enable: true}
",
        says: &[
            "workflow.yaml:1:1: unknown key `nam` (did you mean `name`?)",
            "workflow.yaml:2:1: unknown key `agnets` (did you mean `agents`?)",
            "workflow.yaml:5:45: unknown key `need` (did you mean `needs`?)",
            "workflow.yaml:6:9: unknown key `befor_step` (did you mean `before_step`?)",
            "workflow.yaml:6:26: unknown key `tool_aproval` (did you mean `tool_approval`?)",
            "workflow.yaml:6:62: unknown key `tool` (did you mean `tools`?)",
            "workflow.yaml:7:10: unknown key `round` (did you mean `rounds`?)",
            "workflow.yaml:7:29: unknown key `token` (did you mean `tokens`?)",
            "workflow.yaml:8:10: unknown key `enable` (did you mean `enabled`?)",
        ],
    },
    Case {
        about: "misspelt keys below a good one",
        text: "
name: a
agents:
  solo: {instruction: Work., tool: [read_file]}
phases:
  - {id: work, knd: one_shot, agnt: solo}
colour: blue
",
        says: &[
            "workflow.yaml:3:10: unknown key `instruction` (did you mean `instructions`?)",
            "workflow.yaml:3:30: unknown key `tool` (did you mean `tools`?)",
            "workflow.yaml:5:16: unknown key `knd` (did you mean `kind`?)",
            "workflow.yaml:5:31: unknown key `agnt` (did you mean `agent`?)",
            "workflow.yaml:6:1: unknown key `colour`",
        ],
    },
    Case {
        about: "a wrong kind, and what is wrong beside it",
        text: "
name: a
agents:
  solo: {instructions: Work.}
phases:
  - {id: work, kind: oneshot, agent: nobody, limits: {round: 3}, optional: maybe}
  - {id: plan, kind: plans, agents: {plannr: solo, reviewer: none}, workers: [nobody], iterations: 0}
",
        says: &[
            "workflow.yaml:5:22: expected `one_shot`, `checkpoint`, `planning`, `control`, `idea_generation`, `copilot`, `call`, `hitl_checkpoint`, `hitl_planning` or `hitl_control`, found `oneshot` (did you mean `one_shot`?)",
            "workflow.yaml:5:38: there is no agent `nobody`",
            "workflow.yaml:5:55: unknown key `round` (did you mean `rounds`?)",
            "workflow.yaml:5:76: expected `true` or `false`, found `maybe`",
            "workflow.yaml:6:22: expected `one_shot`, `checkpoint`, `planning`, `control`, `idea_generation`, `copilot`, `call`, `hitl_checkpoint`, `hitl_planning` or `hitl_control`, found `plans`",
            "workflow.yaml:6:38: unknown key `plannr` (did you mean `planner`?)",
            "workflow.yaml:6:62: there is no agent `none`",
            "workflow.yaml:6:79: there is no agent `nobody`",
            "workflow.yaml:6:100: expected a whole number from 1 to 1000000, found the number 0",
        ],
    },
    Case {
        about: "keys and kinds of later versions",
        text: "
name: a
tools: []
mcp_servers: {}
agents:
  solo: {instructions: Work.}
phases:
  - {id: plan, kind: one_shot, agent: solo}
  - {id: work, kind: copilot, agent: solo}
gates: {mandatory: [before_deploy, before_lunch], smart: {}, review: {assignment: {}}}
",
        says: &[
            "workflow.yaml:3:1: `mcp_servers` is not supported yet by this version",
            "workflow.yaml:9:36: expected `after_planning`, `before_file_edit`, `before_execution` or `before_deploy`, found `before_lunch`",
            "workflow.yaml:9:83: the assignment is empty: set `approvers`, `groups`, `quorum` or `stages`",
        ],
    },
    Case {
        about: "hand-offs",
        text: "
name: a
agents:
  solo: {instructions: Work., handoffs: [solo, duo, duo, dua, terminator, amdin]}
  duo: {instructions: Work., handoffs: solo, tools: [handoff_to_solo]}
  admin: {instructions: Work.}
  terminator: {instructions: Work., handoffs: [{to: solo}]}
  a_name_that_is_as_long_as_a_name_may_be_though_no_longer_than_it: {instructions: Work.}
  x: {instructions: Work., handoffs: [a_name_that_is_as_long_as_a_name_may_be_though_no_longer_than_it]}
  y: {instructions: Work., ends: finished}
phases: [{id: work, kind: one_shot, agent: solo}]
gates: {rules: [{tools: [handoff_to_duo, handoff_to_du], do: ask}]}
",
        says: &[
            "workflow.yaml:3:42: `solo` would hand over to itself",
            "workflow.yaml:3:53: `duo` is listed twice",
            "workflow.yaml:3:58: there is no agent `dua` (did you mean `duo`?)",
            "workflow.yaml:3:75: there is no agent `amdin` (did you mean `admin`?)",
            "workflow.yaml:4:40: expected a list, found `solo`",
            "workflow.yaml:4:54: there is no tool `handoff_to_solo`; the tools are: ask_human, ask_user, chain_phases, create_plan, edit_file, invoke_control_phase, invoke_hitl_checkpoint, invoke_idea_generation_phase, invoke_one_shot_phase, invoke_planning_phase, list_directory, pack_review, read_file, request_review, run_command, search_codebase, web_fetch, write_file",
            "workflow.yaml:5:3: `admin` is a built-in target of handovers; choose another name",
            "workflow.yaml:6:3: `terminator` is a built-in target of handovers; choose another name",
            "workflow.yaml:6:48: expected a text, found a mapping",
            "workflow.yaml:8:39: the name of the tool, `handoff_to_a_name_that_is_as_long_as_a_name_may_be_though_no_longer_than_it`, has more than 64 characters",
            "workflow.yaml:9:34: expected `reply` or `finish`, found `finished` (did you mean `finish`?)",
            "workflow.yaml:11:42: there is no tool `handoff_to_du`; the agents have these tools: handoff_to_duo, handoff_to_terminator (did you mean `handoff_to_duo`?)",
        ],
    },
    Case {
        about: "plans",
        text: "
name: a
agents:
  solo: {instructions: Work.}
phases:
  - {id: early, kind: control, agent: solo}
  - {id: plan, kind: planning, agents: {planer: solo}, reviews: 2}
  - {id: more, kind: planning, agents: {planner: nobody, reviewer: solo}, workers: [ghost], message: x}
  - {id: work, kind: control, plan: early, agent: solo, needs: [more]}
  - {id: ideas, kind: idea_generation, agents: {maker: solo}, ideas: 0}
",
        says: &[
            "workflow.yaml:6:41: unknown key `planer` (did you mean `planner`?)",
            "workflow.yaml:6:65: there is no reviewer: name a `reviewer` among the `agents`",
            "workflow.yaml:7:50: there is no agent `nobody`",
            "workflow.yaml:7:85: there is no agent `ghost`",
            "workflow.yaml:7:102: `message` has no effect in a phase of the kind `planning`",
            "workflow.yaml:9:48: the key `critic` is missing",
        ],
    },
    Case {
        about: "plans that nobody makes",
        text: "
name: a
agents:
  solo: {instructions: Work.}
phases:
  - {id: early, kind: control, agent: solo}
  - {id: plan, kind: planning, agents: {planner: solo}}
  - {id: work, kind: control, plan: early, agent: solo}
",
        says: &[
            "workflow.yaml:5:3: `early` needs a planning phase before it",
            "workflow.yaml:5:3: `work` carries out `early`, which is not an earlier planning phase",
        ],
    },
    Case {
        about: "missing keys",
        text: "
agents:
  solo: {tools: []}
phases:
  - {kind: one_shot}
  - {id: b}
  - {id: c, kind: checkpoint}
gates: {rules: [{tools: [\"*\"]}]}
limits: {budget: {}}
",
        says: &[
            "workflow.yaml:1:1: the key `name` is missing",
            "workflow.yaml:2:9: the key `instructions` is missing",
            "workflow.yaml:4:5: the key `id` is missing",
            "workflow.yaml:4:5: the key `agent` is missing",
            "workflow.yaml:5:5: the key `kind` is missing",
            "workflow.yaml:6:5: the key `message` is missing",
            "workflow.yaml:7:17: the key `do` is missing",
            "workflow.yaml:8:18: a budget needs `tokens`, `money`, or both",
        ],
    },
    Case {
        about: "names",
        text: "
name: My Flow
agents: {the agent: {instructions: Work.}}
phases: [{id: Work!, kind: one_shot, agent: the agent}]
",
        says: &[
            "workflow.yaml:1:7: a name is made of a-z, 0-9, `_` and `-`, at most 64 characters; found `My Flow`",
            "workflow.yaml:2:10: a name is made of A-Z, a-z, 0-9, `_` and `-`, at most 64 characters; found `the agent`",
            "workflow.yaml:3:15: a name is made of a-z, 0-9, `_` and `-`, at most 64 characters; found `Work!`",
        ],
    },
    Case {
        about: "the built-in name",
        text: "name: external\nphases: []\n",
        says: &[
            "workflow.yaml:1:7: the workflow `external` is built in; choose another name",
            "workflow.yaml:2:9: a workflow needs at least one phase",
        ],
    },
    Case {
        about: "types",
        text: "
name: 5
description: true
input: text
agents: []
phases: {}
gates: ask
limits: 3
asking: off
network: off
",
        says: &[
            "workflow.yaml:1:7: expected a text, found the number 5",
            "workflow.yaml:2:14: expected a text, found `true`",
            "workflow.yaml:3:8: the input of a run is an object: the schema needs `type: object`",
            "workflow.yaml:4:9: expected a mapping, found a list",
            "workflow.yaml:5:9: expected a list, found a mapping",
            "workflow.yaml:6:8: expected a mapping, found `ask`",
            "workflow.yaml:7:9: expected a mapping, found the number 3",
            "workflow.yaml:8:9: expected a mapping, found `off`",
            "workflow.yaml:9:10: expected `true` or `false`, found `off`",
        ],
    },
    Case {
        about: "questions in replies that nobody can ask",
        text: "
name: a
agents: {solo: {instructions: Work., tools: [read_file]}}
phases: [{id: work, kind: one_shot, agent: solo}]
asking: {form: reply}
",
        says: &[
            "workflow.yaml:4:16: no agent has a tool to ask, such as `ask_human`, so this key has no effect",
        ],
    },
    Case {
        about: "types further down",
        text: "
name: a
description:
agents:
  solo: {instructions: \" \", model: https://models.example/v1, tools: read_file}
  other: Work.
phases:
  - {id: work, kind: one_shot, agent: [solo], input: 3, needs: none}
  - next
gates: {before_step: true, plan: [ask], rules: [all], question: [], choice: {labels: {custom: no, other: 1}}}
",
        says: &[
            "workflow.yaml:2:12: expected a text, found nothing",
            "workflow.yaml:4:24: the text is empty",
            "workflow.yaml:4:36: a model must be the name of a configured model, not a URL",
            "workflow.yaml:4:70: expected a list, found `read_file`",
            "workflow.yaml:5:10: expected a mapping, found `Work.`",
            "workflow.yaml:7:39: expected a text, found a list",
            "workflow.yaml:7:54: expected a text, found the number 3",
            "workflow.yaml:7:64: expected a list, found `none`",
            "workflow.yaml:8:5: expected a mapping, found `next`",
            "workflow.yaml:9:22: expected `ask` or `off`, found `true`",
            "workflow.yaml:9:34: expected `ask` or `show`, found a list",
            "workflow.yaml:9:49: expected a mapping, found `all`",
            "workflow.yaml:9:65: expected a mapping, found a list",
            "workflow.yaml:9:99: `choice` has no option `other`",
        ],
    },
    Case {
        about: "keys twice, and keys that are no text",
        text: "
name: a
agents:
  solo: {instructions: Work.}
  solo: {instructions: Play.}
  7: {instructions: Count.}
phases:
  - {id: work, kind: one_shot, agent: solo}
name: b
",
        says: &[
            "workflow.yaml:4:3: the key `solo` appears twice (first in line 3)",
            "workflow.yaml:5:3: a key must be a text, found the number 7",
            "workflow.yaml:8:1: the key `name` appears twice (first in line 1)",
        ],
    },
    Case {
        about: "the input's schema",
        text: "
name: a
input:
  type: object
  properties:
    task: {type: strin}
phases:
  - {id: work, kind: checkpoint, message: Look.}
",
        says: &[
            "workflow.yaml:5:18: `strin` is not a type; the types are: string, integer, number, boolean, object, array, null",
        ],
    },
    Case {
        about: "an input that is no object",
        text: "
name: a
input: {type: string}
phases:
  - {id: work, kind: checkpoint, message: Look.}
",
        says: &[
            "workflow.yaml:2:8: the input of a run is an object: the schema needs `type: object`",
        ],
    },
    Case {
        about: "a number that JSON cannot hold exactly",
        text: "
name: a
input: {type: object, properties: {n: {maximum: 9007199254740993}}}
phases:
  - {id: work, kind: checkpoint, message: Look.}
",
        says: &[
            "workflow.yaml:2:49: a whole number beyond 2^53-1 is not exact in JSON; write it as a text",
        ],
    },
    Case {
        about: "tools",
        text: "
name: a
agents:
  solo: {instructions: Work., tools: [read_fil, ask_human, read_file, read_file, make_coffee]}
phases:
  - {id: work, kind: one_shot, agent: solo}
",
        says: &[
            "workflow.yaml:3:39: there is no tool `read_fil`; the tools are: ask_human, ask_user, chain_phases, create_plan, edit_file, invoke_control_phase, invoke_hitl_checkpoint, invoke_idea_generation_phase, invoke_one_shot_phase, invoke_planning_phase, list_directory, pack_review, read_file, request_review, run_command, search_codebase, web_fetch, write_file (did you mean `read_file`?)",
            "workflow.yaml:3:71: `read_file` is listed twice",
            "workflow.yaml:3:82: there is no tool `make_coffee`; the tools are: ask_human, ask_user, chain_phases, create_plan, edit_file, invoke_control_phase, invoke_hitl_checkpoint, invoke_idea_generation_phase, invoke_one_shot_phase, invoke_planning_phase, list_directory, pack_review, read_file, request_review, run_command, search_codebase, web_fetch, write_file",
        ],
    },
    Case {
        about: "phases: agents, ids, keys of the other kind",
        text: "
name: a
agents:
  solo: {instructions: Work.}
phases:
  - {id: work, kind: one_shot, agent: sol, message: Hello.}
  - {id: work, kind: one_shot, agent: solo}
  - {id: look, kind: checkpoint, message: Good?, agent: solo, limits: {rounds: 1}}
  - {id: last, kind: oneshot, agent: solo}
  - {id: more, kind: one_shot, agent: solo, gates: {plan: ask, before_step: yes, rules: []}}
",
        says: &[
            "workflow.yaml:5:39: there is no agent `sol` (did you mean `solo`?)",
            "workflow.yaml:5:53: `message` has no effect in a phase of the kind `one_shot`",
            "workflow.yaml:6:10: an earlier phase is also named `work`",
            "workflow.yaml:7:57: `agent` has no effect in a phase of the kind `checkpoint`",
            "workflow.yaml:7:71: `limits` has no effect in a phase of the kind `checkpoint`",
            "workflow.yaml:8:22: expected `one_shot`, `checkpoint`, `planning`, `control`, `idea_generation`, `copilot`, `call`, `hitl_checkpoint`, `hitl_planning` or `hitl_control`, found `oneshot` (did you mean `one_shot`?)",
            "workflow.yaml:9:59: `plan` belongs to the workflow's `gates`, not to a phase's",
            "workflow.yaml:9:77: expected `ask` or `off`, found `yes`",
            "workflow.yaml:9:89: `rules` belongs to the workflow's `gates`, not to a phase's",
        ],
    },
    Case {
        about: "no phase",
        text: "name: a\nphases: []\n",
        says: &[
            "workflow.yaml:2:9: a workflow needs at least one phase",
        ],
    },
    Case {
        about: "needs",
        text: "
name: a
agents: {solo: {instructions: Work.}}
phases:
  - {id: one, kind: one_shot, agent: solo, needs: [three]}
  - {id: two, kind: one_shot, agent: solo}
  - {id: three, kind: one_shot, agent: solo}
  - {id: four, kind: one_shot, agent: solo, needs: [four]}
  - {id: five, kind: one_shot, agent: solo, needs: [for, two, two]}
",
        says: &[
            "workflow.yaml:4:52: these phases wait for each other: `one` → `three` → `two` → `one`",
            "workflow.yaml:7:53: the phase `four` lists itself in `needs`",
            "workflow.yaml:8:53: there is no phase `for` (did you mean `four`?)",
            "workflow.yaml:8:63: `two` is listed twice",
        ],
    },
    Case {
        about: "rules",
        text: "
name: a
agents:
  solo: {instructions: Work., tools: [read_file, run_command]}
phases:
  - {id: work, kind: one_shot, agent: solo}
gates:
  rules:
    - {tools: [run_comand], do: forbid}
    - {tools: [edit_file], do: allow}
    - {tools: [read_*], do: allow}
    - {tools: [\"*\", read_file], do: allow}
    - {do: allow}
    - {tools: [], do: allow}
    - {tools: [read_file], commands: [\"git *\"], do: forbid}
    - {commands: [\"curl * | sh\", \"echo 'a b'\"], do: forbid}
    - {paths: [/etc/passwd, \"../up\", \"a[\"], do: forbid}
    - {categories: [instal], agents: [sol], do: alow}
    - {reason: Because., do: ask, commands: [\"\"]}
",
        says: &[
            "workflow.yaml:8:16: there is no tool `run_comand`; the agents have these tools: read_file, run_command (did you mean `run_command`?)",
            "workflow.yaml:9:16: no agent has the tool `edit_file`, so this rule would never match it",
            "workflow.yaml:10:16: tools match by their full names, and there is no tool `read_*`; the agents have these tools: read_file, run_command",
            "workflow.yaml:11:16: `*` matches every tool: do not list other tools with it",
            "workflow.yaml:12:7: a rule needs a criterion: `tools`, `commands`, `paths`, `urls`, `categories`, `agents`, `changes` or `deletes`; `tools: [\"*\"]` matches every call",
            "workflow.yaml:13:15: `tools` is empty and would match every call; leave it out",
            "workflow.yaml:14:38: none of the tools of this rule takes a command, so the rule would never match",
            "workflow.yaml:15:19: a pattern holds the words of one command; with `|` it would never match",
            "workflow.yaml:15:34: a pattern holds the words of one command; with `'` it would never match",
            "workflow.yaml:16:16: a path is relative to the workspace, without `..`; this pattern would \
            never match",
            "workflow.yaml:16:29: a path is relative to the workspace, without `..`; this pattern would \
            never match",
            "workflow.yaml:16:38: not a glob: unclosed character class; missing ']'",
            "workflow.yaml:17:21: expected `read_only`, `file_write`, `bash`, `code_exec`, `install` or `web`, found `instal` (did you mean `install`?)",
            "workflow.yaml:17:39: there is no agent `sol` (did you mean `solo`?)",
            "workflow.yaml:17:49: expected `allow`, `ask` or `forbid`, found `alow` (did you mean `allow`?)",
            "workflow.yaml:18:46: the text is empty",
        ],
    },
    Case {
        about: "rules over changes",
        text: "
name: a
agents:
  solo: {instructions: Work., tools: [read_file, run_command]}
phases:
  - {id: work, kind: one_shot, agent: solo}
gates:
  rules:
    - {changes: nothing, do: allow}
    - {changes: [], deletes: 0, do: ask}
    - {changes: [/etc, \"src/**\"], do: allow}
    - {deletes: 2, do: ask}
",
        says: &[
            "workflow.yaml:8:5: `changes` and `deletes` match the result of a trial; add `trial: on` next to the rules",
            "workflow.yaml:8:17: expected `none` or `ignored`, found `nothing`",
            "workflow.yaml:9:17: `changes` is empty and would match every call; leave it out",
            "workflow.yaml:9:30: expected a whole number from 1 to 4294967295, found the number 0",
            "workflow.yaml:10:18: a path is relative to the workspace, without `..`; this pattern would \
            never match",
        ],
    },
    Case {
        about: "checkpoints with settings",
        text: "
name: a
agents:
  solo: {instructions: Work., tools: [read_file, run_command]}
phases:
  - {id: work, kind: one_shot, agent: solo}
gates:
  mandatory:
    - {before_execution: {trial: true}}
    - {before_execution: {trail: true}}
    - {before_deploy: {trial: true}}
",
        says: &[
            "workflow.yaml:8:34: trials are off; write `trial: on` in the `gates`",
            "workflow.yaml:9:27: unknown key `trail` (did you mean `trial`?)",
            "workflow.yaml:10:7: the key `before_execution` is missing",
            "workflow.yaml:10:8: unknown key `before_deploy`",
        ],
    },
    Case {
        about: "what is withheld",
        text: "\
name: a
agents: {solo: {instructions: Work.}}
phases: [{id: work, kind: one_shot, agent: solo}]
gates:
  withhold:
    - {from: [reviewer], fields: [/a/*/b, a/b, /a~, /]}
    - {from: [operator, reviewr], fields: []}
    - {fields: [/a], form: [reviewer]}
",
        says: &[
            "workflow.yaml:6:43: `a/b` is not a JSON pointer into the payload: begin it with `/`",
            "workflow.yaml:6:48: `/a~` is not a JSON pointer: write `~` as `~0`, and `/` in a name as `~1`",
            "workflow.yaml:6:53: `/` is the whole payload: nothing would be left to decide on",
            "workflow.yaml:7:15: nothing can be withheld from the role `operator`, because it sees \
            everything; name only `reviewer`",
            "workflow.yaml:7:25: expected `reviewer`, found `reviewr` (did you mean `reviewer`?)",
            "workflow.yaml:7:43: the list is empty: name at least one field",
            "workflow.yaml:8:22: unknown key `form` (did you mean `from`?)",
        ],
    },
    Case {
        about: "grants",
        text: "
name: a
phases: [{id: look, kind: checkpoint, message: Look.}]
gates: {grants: {covers: tool, expires_after: 8, until: tomorrow}}
",
        says: &[
            "workflow.yaml:3:26: expected `call` or `category`, found `tool`",
            "workflow.yaml:3:47: expected a duration such as `30s`, `30m`, `2h` or `7d`, found the number 8",
            "workflow.yaml:3:50: unknown key `until`",
        ],
    },
    Case {
        about: "kinds of interrupt",
        text: "
name: a
phases: [{id: look, kind: checkpoint, message: Look.}]
gates:
  tool_approval: {labels: {aprove: Yes, approve: \"\"}, reject: drop_plan, expires_in: 30, on_expiry: approve_session}
  plan_approval: {reject: fail, expires_in: 0s, on_expiry: revise}
  question: {reject: refuse, expires_in: 1w, on_expiry: reject}
  choice: {expires_in: 400d, on_expiry: custom}
  review: {expires_in: 1.5h, approvers: [ana, ana, 7]}
",
        says: &[
            "workflow.yaml:4:28: `tool_approval` has no option `aprove` (did you mean `approve`?)",
            "workflow.yaml:4:50: the text is empty",
            "workflow.yaml:4:63: expected `refuse`, `end_turn` or `fail_run`, found `drop_plan`",
            "workflow.yaml:4:86: expected a duration such as `30s`, `30m`, `2h` or `7d`, found the number 30",
            "workflow.yaml:4:101: the option `approve_session` needs input from a person, so it cannot be \
            applied on expiry: choose another option",
            "workflow.yaml:5:27: expected `drop_plan` or `fail_run`, found `fail`",
            "workflow.yaml:5:45: a duration is from 1ms to 366d, found `0s`",
            "workflow.yaml:5:60: the option `revise` needs input from a person, so it cannot be applied on \
            expiry: choose another option",
            "workflow.yaml:6:22: `question` has no option `reject`",
            "workflow.yaml:6:42: expected a duration such as `30s`, `30m`, `2h` or `7d`, found `1w`",
            "workflow.yaml:6:57: `question` has no option `reject`",
            "workflow.yaml:7:24: a duration is from 1ms to 366d, found `400d`",
            "workflow.yaml:7:41: the option `custom` needs input from a person, so it cannot be applied on \
            expiry: choose another option",
            "workflow.yaml:8:24: expected a duration such as `30s`, `30m`, `2h` or `7d`, found `1.5h`",
            "workflow.yaml:8:42: no person who may decide is named `ana`; known approvers: `operator`",
            "workflow.yaml:8:47: `ana` is listed twice",
            "workflow.yaml:8:52: expected a text, found the number 7",
        ],
    },
    Case {
        about: "smart approval",
        text: "
name: a
phases:
  - {id: look, kind: checkpoint, message: Look.}
gates: {smart: {keyword: [delete], keywords: [\"--\", drop, drop, 7], judge: true}}
",
        says: &[
            "workflow.yaml:4:17: unknown key `keyword` (did you mean `keywords`?)",
            "workflow.yaml:4:47: `--` contains no word, so it would never match",
            "workflow.yaml:4:59: `drop` is listed twice",
            "workflow.yaml:4:65: expected a text, found the number 7",
            "workflow.yaml:4:76: expected a text, found `true`",
        ],
    },
    Case {
        about: "the options of a kind",
        text: "
name: a
phases: [{id: look, kind: checkpoint, message: Look.}]
gates:
  after_step: unles_clean
  tool_approval: {options: [approve, rejct]}
  plan_approval: {options: [edit, approve]}
  checkpoint: {options: [approve, reject, approve], on_expiry: abort}
  question: {options: []}
  review: {options: approve}
",
        says: &[
            "workflow.yaml:4:15: expected `ask`, `unless_clean` or `off`, found `unles_clean` (did you mean `unless_clean`?)",
            "workflow.yaml:5:38: `tool_approval` has no option `rejct` (did you mean `reject`?)",
            "workflow.yaml:6:28: at least one option must not let the work continue: add one of `revise`, \
            `reject`",
            "workflow.yaml:7:43: `approve` is listed twice",
            "workflow.yaml:7:64: the option `abort` is not listed in the `options`",
            "workflow.yaml:8:23: at least one option must not let the work continue: add one of `answer`, \
            `skip`, `cancel`",
            "workflow.yaml:9:21: expected a list, found `approve`",
        ],
    },
    Case {
        about: "limits",
        text: "
name: a
phases: [{id: look, kind: checkpoint, message: Look.}]
limits: {rounds: 0, tool_calls: -1, attempts: 1.5, redos: many, parallel: 1000001, budget: {tokens: 0}}
",
        says: &[
            "workflow.yaml:3:18: expected a whole number from 1 to 1000000, found the number 0",
            "workflow.yaml:3:33: expected a whole number from 1 to 1000000, found the number -1",
            "workflow.yaml:3:47: expected a whole number from 1 to 1000000, found the number 1.5",
            "workflow.yaml:3:59: expected a whole number, found `many`",
            "workflow.yaml:3:75: expected a whole number from 1 to 1000000, found the number 1000001",
            "workflow.yaml:3:101: expected a whole number from 1 to 1000000000000, found the number 0",
        ],
    },
    Case {
        about: "models and money",
        text: "
name: a
phases: [{id: look, kind: checkpoint, message: Look.}]
limits: {budget: {money: 1.5}}
models:
  a: {window_token: 5}
  b: {window_tokens: 5}
  c: {price: {input_per_million: \"1e3\", output_per_million: \"1\", currency: usd}}
  d: {price: {input_per_million: \"1\", output_per_million: \"1\", currency: USD}}
  e: {price: {input_per_million: \"1\", output_per_million: \"1\", currency: EUR}}
  f: {}
  \"http://g\": {window_tokens: 5000}
",
        says: &[
            "workflow.yaml:3:26: expected a text, found the number 1.5",
            "workflow.yaml:5:7: unknown key `window_token` (did you mean `window_tokens`?)",
            "workflow.yaml:6:22: a context window has at least 1000 tokens",
            "workflow.yaml:7:34: expected an amount as a text, such as `\"2.50\"`, with six decimal places at most",
            "workflow.yaml:7:76: a currency is three capital letters, such as `USD`",
            "workflow.yaml:9:6: all prices of a workflow must be in one currency, but another price is in USD",
            "workflow.yaml:10:6: the model has no settings: add `window_tokens`, `price`, or both",
            "workflow.yaml:11:3: this is not a valid model name",
        ],
    },
    Case {
        about: "a budget of money that nothing counts",
        text: "
name: a
phases: [{id: look, kind: checkpoint, message: Look.}]
limits: {budget: {money: \"1.50\"}}
",
        says: &["workflow.yaml:3:9: a budget of `money` needs a price: `models.NAME.price`"],
    },
    Case {
        about: "a tool with the name of the one that undoes",
        text: "name: a\ntools:\n  - {name: undo_changes, description: d, runs: client}\nagents: {solo: {instructions: \
               i}}\nphases: [{id: p, kind: one_shot, agent: solo}]\n",
        says: &["workflow.yaml:3:12: `undo_changes` is a built-in tool that clients cannot run; choose another name"],
    },
    Case {
        about: "tools of its own",
        text: "name: a\ntools:\n  - {name: ask_human, description: d, runs: client}\n  - {name: x, description: d, runs: \
               server}\n  - {name: y, description: d, runs: mcp}\n  - {name: z, description: d, runs: client, effect: \
               reads}\n  - {name: v, description: d, runs: client, parameters: {type: string}}\n  - {name: w, \
               description: d, runs: client}\n  - {name: w, description: d, runs: client}\nagents: {solo: \
               {instructions: i, tools: [w]}}\nphases: [{id: p, kind: one_shot, agent: solo}]\n",
        says: &[
            "workflow.yaml:3:12: `ask_human` is a built-in tool that clients cannot run; choose another name",
            "workflow.yaml:4:37: a custom tool runs in the client: expected `client`, found `server`",
            "workflow.yaml:5:37: `runs: mcp` is not supported yet by this version",
            "workflow.yaml:6:53: expected `read` or `write`, found `reads` (did you mean `read`?)",
            "workflow.yaml:7:57: the input of a tool is an object: the schema needs `type: object`",
            "workflow.yaml:9:5: an earlier tool is also named `w`",
        ],
    },
    Case {
        about: "gates around those who plan",
        text: "name: a\nagents: {solo: {instructions: i}}\nphases:\n  - {id: p, kind: planning, agents: {planner: solo}, \
               gates: {before_step: ask, on_error: ask}}\n  - {id: i, kind: idea_generation, agents: {maker: solo, \
               critic: solo}, gates: {after_step: ask}}\n",
        says: &[
            "workflow.yaml:4:75: `before_step` has no effect in a phase of the kind `planning`",
            "workflow.yaml:5:93: `after_step` has no effect in a phase of the kind `idea_generation`",
        ],
    },
    Case {
        about: "gates of a phase's own interrupts",
        text: "\
name: a
agents: {solo: {instructions: i}}
gates: {checkpoint: {options: [approve, skip, reject], on_expiry: skip}, question: {approvers: [operator]}}
phases:
  - {id: look, kind: checkpoint, message: m, gates: {plan_approval: {expires_in: 1h}, on_error: ask}}
  - {id: p, kind: planning, agents: {planner: solo}, gates: {checkpoint: {expires_in: 1h}}}
  - id: w
    kind: control
    agent: solo
    gates:
      turn: {expires_in: 1h}
      checkpoint: {on_expiry: redo, expires_in: soon}
      error: {options: [retry], labels: {restart: R}}
      question: {approvers: []}
  - {id: x, kind: one_shot, agent: solo, gates: {checkpoint: {options: [approve, reject]}}}
  - {id: y, kind: checkpoint, message: m, gates: {checkpoint: {options: [approve, abort], labels: {edit: E}}}}
",
        says: &[
            "workflow.yaml:5:69: interrupts of the kind `plan_approval` never occur in a phase of the kind `checkpoint`",
            "workflow.yaml:5:97: `on_error` has no effect in a phase of the kind `checkpoint`",
            "workflow.yaml:6:74: interrupts of the kind `checkpoint` never occur in a phase of the kind `planning`",
            "workflow.yaml:11:13: interrupts of the kind `turn` never occur in a phase of the kind `control`",
            "workflow.yaml:12:31: the option `redo` is not listed in the workflow's `options`",
            "workflow.yaml:12:49: expected a duration such as `30s`, `30m`, `2h` or `7d`, found `soon`",
            "workflow.yaml:13:42: `error` has no option `restart`",
            "workflow.yaml:14:29: the list is empty: name at least one approver, or remove the key",
            "workflow.yaml:15:72: these `options` lack `skip`, which the workflow sets as `on_expiry`",
            "workflow.yaml:16:83: `checkpoint` has no option `abort` here",
            "workflow.yaml:16:100: `checkpoint` has no option `edit` here",
        ],
    },
    Case {
        about: "limits that nothing reads",
        text: "name: a\nagents: {solo: {instructions: i}}\nphases:\n  - {id: o, kind: one_shot, agent: solo, limits: \
               {plan_steps: 1, parallel: 1}}\n  - {id: p, kind: planning, agents: {planner: solo}, limits: {plan_steps: \
               1, redos: 1}}\n  - {id: c, kind: control, agent: solo, limits: {parallel: 1, redos: 1, plan_steps: \
               1}}\n  - {id: i, kind: idea_generation, agents: {maker: solo, critic: solo}, limits: {rounds: 1, \
               parallel: 1}}\nlimits: {plan_steps: 1, redos: 1, parallel: 1}\n",
        says: &[
            "workflow.yaml:4:76: `parallel` has no effect in a phase of the kind `one_shot`",
            "workflow.yaml:5:85: `redos` has no effect in a phase of the kind `planning`",
            "workflow.yaml:6:85: `plan_steps` has no effect in a phase of the kind `control`",
            "workflow.yaml:7:103: `parallel` has no effect in a phase of the kind `idea_generation`",
        ],
    },
    Case {
        about: "a phase that lacks a key is read to its end",
        text: "\
name: a
phases:
  - {id: look, kind: checkpoint, messages: Look., gates: {checkpoint: {expires_in: 2 hours, on_expiry: aprove}}}
  - {id: work, kind: one_shot, agnt: solo, limits: {round: 3}}
",
        says: &[
            "workflow.yaml:3:34: unknown key `messages` (did you mean `message`?)",
            "workflow.yaml:3:84: expected a duration such as `30s`, `30m`, `2h` or `7d`, found `2 hours`",
            "workflow.yaml:3:104: `checkpoint` has no option `aprove` (did you mean `approve`?)",
            "workflow.yaml:4:32: unknown key `agnt` (did you mean `agent`?)",
            "workflow.yaml:4:53: unknown key `round` (did you mean `rounds`?)",
        ],
    },
    Case {
        about: "approvers that nobody can be",
        text: "\
name: a
phases:
  - {id: look, kind: checkpoint, message: m, gates: {checkpoint: {approvers: [release-manager]}}}
gates: {checkpoint: {approvers: [operater, operator, agent, engine]}}
",
        says: &[
            "workflow.yaml:3:79: no person who may decide is named `release-manager`; known approvers: `operator`",
            "workflow.yaml:4:34: no person who may decide is named `operater`; known approvers: `operator` (did you mean `operator`?)",
            "workflow.yaml:4:54: no person who may decide is named `agent`; known approvers: `operator`",
            "workflow.yaml:4:61: no person who may decide is named `engine`; known approvers: `operator`",
        ],
    },
    Case {
        about: "assignments that say too little, too much, or name nobody",
        text: "\
name: a
phases:
  - {id: look, kind: checkpoint, message: m, gates: {checkpoint: {approvers: [operator], assignment: {groups: [legal]}}}}
  - {id: work, kind: checkpoint, message: m, gates: {checkpoint: {assignment: {}}}}
gates:
  checkpoint: {assignment: {groups: [legal], quorum: {required: 0, role: all}}}
  question: {assignment: {stages: [], approvers: [operator]}}
  review: {assignment: {stages: [{name: law, approvers: [anna]}, {quorum: {roles: most}}], self_aproval: false}}
",
        says: &[
            "workflow.yaml:3:78: `approvers` and `assignment` cannot be used together: name the approvers in \
            `assignment` only",
            "workflow.yaml:4:79: the assignment is empty: set `approvers`, `groups`, `quorum` or `stages`",
            "workflow.yaml:6:38: no person who may decide is in the group `legal`; known groups: none",
            "workflow.yaml:6:65: expected a whole number from 1 to 100, found the number 0",
            "workflow.yaml:6:68: unknown key `role` (did you mean `roles`?)",
            "workflow.yaml:7:35: the list of stages is empty: add a stage, or remove the key",
            "workflow.yaml:7:50: `approvers` is not allowed beside `stages`: write `approvers` in each stage \
            instead",
            "workflow.yaml:8:58: no person who may decide is named `anna`; known approvers: `operator`",
            "workflow.yaml:8:83: expected `any` or `all`, found `most`",
            "workflow.yaml:8:92: unknown key `self_aproval` (did you mean `self_approval`?)",
        ],
    },
    Case {
        about: "reminders and escalations that cannot be",
        text: "\
name: a
phases:
  - {id: look, kind: checkpoint, message: m}
gates:
  checkpoint: {reminders: {every: 1h}, escalation: [], working_time: maybe}
  question: {reminders: {after: 4h, limit: 3}, escalation: [{after: 1h}, {approvers: [anna]}, {after: 1h, groups: [legal], to: x}]}
  review: {working_time: true, expires_in: 2d, reminders: {after: 1d, every: 0s, limit: 101}}
",
        says: &[
            "workflow.yaml:5:27: the key `after` is missing",
            "workflow.yaml:5:52: the list of steps is empty: add a step, or remove the key",
            "workflow.yaml:5:70: expected `true` or `false`, found `maybe`",
            "workflow.yaml:6:44: without `every` there is only one reminder: add `every` for more",
            "workflow.yaml:6:61: the escalation step names no one: add `approvers` or `groups`",
            "workflow.yaml:6:74: the key `after` is missing",
            "workflow.yaml:6:87: no person who may decide is named `anna`; known approvers: `operator`",
            "workflow.yaml:6:116: no person who may decide is in the group `legal`; known groups: none",
            "workflow.yaml:6:124: unknown key `to`",
            "workflow.yaml:7:44: with `working_time`, a duration must not be in days: write it in hours",
            "workflow.yaml:7:67: with `working_time`, a duration must not be in days: write it in hours",
            "workflow.yaml:7:78: a duration is from 1ms to 366d, found `0s`",
            "workflow.yaml:7:89: expected a whole number from 1 to 100, found the number 101",
        ],
    },
    Case {
        about: "references out of a schema",
        text: "\
name: a
input: {type: object, properties: {task: {$ref: 'https://example.org/task.json'}, more: {$ref: '#/$defs/Mor'}}, $defs: {More: {type: string}}}
tools:
  - {name: x, description: d, runs: client, parameters: {$defs: {A: {$ref: '#/$defs/A'}}, $ref: '#/$defs/A'}}
  - {name: y, description: d, runs: client, parameters: {$schema: 'https://example.org/mine', type: object}}
  - {name: z, description: d, runs: client, parameters: {$defs: {A: {type: string}}, $ref: '#/$defs/A'}}
agents: {solo: {instructions: i, tools: [x, y, z]}}
phases: [{id: p, kind: one_shot, agent: solo}]
",
        says: &[
            "workflow.yaml:2:49: `$ref` `https://example.org/task.json` is in another document: only references within the schema are followed, such as `#/$defs/NAME`",
            "workflow.yaml:2:96: `$ref` `#/$defs/Mor` names no schema in this document; there is `#/$defs/More`",
            "workflow.yaml:4:69: refers to itself without descending into the value, so its check would \
            never end",
            "workflow.yaml:5:67: `$schema` is not a supported draft; supported are: https://json-schema.org/draft/2020-12/schema, https://json-schema.org/draft/2019-09/schema, http://json-schema.org/draft-07/schema",
            "workflow.yaml:6:57: the input of a tool is an object: the schema needs `type: object`",
        ],
    },
    Case {
        about: "a pattern that is none",
        text: "name: a\ntools: [{name: x, description: d, runs: client, parameters: {type: object, properties: {p: {type: \
               string, pattern: \"^(/.*\"}}}}]\nagents: {solo: {instructions: i, tools: \
               [x]}}\nphases: [{id: p, kind: one_shot, agent: solo}]\n",
        says: &[
            "workflow.yaml:2:116: the pattern `^(/.*` is not a valid regular expression",
        ],
    },
];
