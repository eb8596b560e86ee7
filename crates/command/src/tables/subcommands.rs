//! Built-in subcommands of programs. Any other subcommand may be an alias, a plugin, a script, or a program on `PATH`.
//!
//! Subcommands that receive code or name commands are left out (`deno eval`, `yarn node`, `gh alias`, `kubectl
//! plugin`).

use super::git;

/// Programs, each with its subcommands, which are separated by spaces.
const ROWS: &[(&[&str], &str)] = &[
    (
        &["cargo"],
        "add audit b bench build c check clean clippy config d deny doc fetch fix fmt generate-lockfile help \
         info init install llvm-cov locate-project login logout metadata miri new nextest owner package pkgid \
         publish r remove report rm run rustc rustdoc search t test tree uninstall update vendor verify- \
         project version yank",
    ),
    (
        &["npm"],
        "access adduser audit bugs cache ci completion config dedupe deprecate diff dist-tag docs doctor edit \
         exec explain explore find-dupes fund get help hook i init install install-ci-test install-test it \
         link list ll login logout ls org outdated owner pack ping pkg prefix profile prune publish query \
         rebuild repo restart root run run-script sbom search set shrinkwrap star stars start stop t team \
         test token tst uninstall unpublish unstar update version view whoami x",
    ),
    (
        &["pnpm"],
        "add approve-builds audit bin ci config create dedupe deploy dlx doctor env exec fetch help i import \
         init install install-test it licenses link list ll ls outdated pack patch prune publish rb rebuild \
         remove restart rm root run run-script server setup start stop store t test un uninstall unlink up \
         update upgrade view whoami why",
    ),
    (
        &["yarn"],
        "add audit autoclean bin cache check config create dedupe dlx exec generate-lock-entry global help \
         import info init install licenses link list login logout outdated owner pack policies publish remove \
         run search set stage tag team test unlink unplug up upgrade upgrade-interactive version versions why \
         workspaces",
    ),
    (
        &["bun"],
        "a add audit build create dlx exec help i init install link outdated patch pm publish remove rm run \
         test unlink update upgrade why x",
    ),
    (
        &["pip", "pip3"],
        "cache check completion config debug download freeze hash help index inspect install list lock search \
         show uninstall wheel",
    ),
    (
        &["uv"],
        "add audit build cache export format help init lock pip publish python remove run self sync tool tree \
         venv version",
    ),
    (
        &["poetry"],
        "about add build cache check config debug env export help init install list lock new publish remove \
         run search self show source sync update version",
    ),
    (
        &["pipenv"],
        "check clean graph install lock open requirements run scripts sync uninstall update upgrade verify",
    ),
    (&["hatch"], "build clean config dep env fmt new project publish python run self status test version"),
    (
        &["conda"],
        "activate build clean compare config create deactivate env export info init install list notices \
         package remove rename repoquery run search uninstall update upgrade",
    ),
    (
        &["docker", "podman"],
        "attach build builder buildx commit compose container context cp create diff events exec export help \
         history image images import info inspect kill load login logout logs manifest network node pause \
         plugin port ps pull push rename restart rm rmi run save search secret service stack start stats stop \
         swarm system tag top trust unpause update version volume wait",
    ),
    (
        &["kubectl"],
        "annotate api-resources api-versions apply attach auth autoscale certificate cluster-info completion \
         config cordon cp create debug delete describe diff drain edit events exec explain expose get help \
         kustomize label logs options patch port-forward proxy replace rollout run scale set taint top \
         uncordon version wait",
    ),
    (
        &["helm"],
        "completion create dependency env get help history install lint list ls package pull push registry \
         repo rollback search show status template test uninstall upgrade verify version",
    ),
    (
        &["terraform", "tofu"],
        "apply console destroy fmt force-unlock get graph import init login logout metadata modules output \
         plan providers refresh show state taint test untaint validate version workspace",
    ),
    (
        &["go"],
        "bug build clean doc env fix fmt generate get help install list mod run telemetry test version vet \
         work",
    ),
    (
        &["apt", "apt-get"],
        "autoclean autopurge autoremove build-dep changelog check clean depends dist-upgrade download full- \
         upgrade help install list moo policy purge rdepends reinstall remove satisfy search show showsrc \
         source update upgrade",
    ),
    (
        &["systemctl"],
        "cat daemon-reexec daemon-reload disable edit enable get-default halt help is-active is-enabled is- \
         failed isolate kill link list-dependencies list-jobs list-sockets list-timers list-unit-files list- \
         units mask poweroff preset reboot reenable reload reload-or-restart reset-failed restart revert set- \
         default set-property show start status stop suspend try-restart unmask",
    ),
    (
        &["gh"],
        "api attestation auth browse cache codespace completion config gist gpg-key help issue label org pr \
         project release repo ruleset run search secret ssh-key status variable workflow",
    ),
    (
        &["aws"],
        "acm apigateway apigatewayv2 autoscaling batch cloudformation cloudfront cloudtrail cloudwatch \
         codebuild codecommit codepipeline cognito-idp configservice configure deploy dynamodb ec2 ecr ecs \
         efs eks elasticache elasticbeanstalk elb elbv2 emr events firehose glue help iam kinesis kms lambda \
         logs rds redshift route53 s3 s3api sagemaker secretsmanager ses sns sqs ssm sso stepfunctions sts",
    ),
    (
        &["gcloud"],
        "alpha app artifacts asset auth beta bigtable builds components compute config container dataflow \
         dataproc deploy dns domains endpoints eventarc feedback filestore firestore functions help iam info \
         init kms logging monitoring network-management organizations projects pubsub redis run scheduler \
         secrets services source spanner sql storage tasks topic version workflows workstations",
    ),
    (
        &["rustup"],
        "check completions component default doc help install override run self set show target toolchain \
         uninstall update which",
    ),
    (
        &["deno"],
        "add audit bench cache check clean compile completions coverage doc fmt help info init install \
         json_reference jupyter lint lsp outdated publish remove run serve task test types uninstall update \
         upgrade vendor",
    ),
    (
        &["hg"],
        "add addremove annotate archive backout bisect bookmarks branch branches bundle cat ci clone co \
         commit config copy diff export files forget graft grep heads help identify import incoming init \
         locate log manifest merge outgoing parents paths phase pull push recover remove rename resolve \
         revert rollback root serve st status summary tag tags tip unbundle up update verify version",
    ),
    (
        &["svn"],
        "add auth blame cat changelist checkout ci cleanup co commit copy cp del delete diff export help \
         import info list lock log ls merge mergeinfo mkdir move mv patch propdel propedit propget proplist \
         propset relocate remove rename resolve resolved revert rm st stat status switch unlock up update \
         upgrade",
    ),
    (
        &["dotnet"],
        "add build build-server clean dev-certs format fsi help list msbuild new nuget pack package publish \
         reference remove restore run sdk sln solution store test tool vstest workload",
    ),
    (
        &["brew"],
        "analytics audit autoremove bundle cask cat cleanup commands config deps desc doctor fetch formulae \
         help home info install leaves link list log ls migrate missing options outdated pin postinstall \
         readall reinstall rm search services shellenv tap tap-info uninstall unlink unpin untap update \
         upgrade uses vendor-gems",
    ),
    (
        &["bundle"],
        "add binstubs cache check clean config console doctor exec fund gem help info init install issue \
         licenses list lock open outdated package platform plugin pristine remove show update version",
    ),
    (
        &["gem"],
        "build cert check cleanup contents dependency environment fetch generate_index help info install list \
         lock mirror open outdated owner pristine push query rdoc search server signin signout sources \
         specification stale uninstall unpack update which yank",
    ),
    (
        &["composer"],
        "about archive audit browse bump check-platform-reqs clear-cache completion config create-project \
         depends diagnose dump-autoload exec fund global help home info init install licenses list outdated \
         prohibits reinstall remove require run-script search self-update show status suggests update upgrade \
         validate why",
    ),
    (
        &["mix"],
        "app.config app.start archive clean cmd compile deps deps.clean deps.compile deps.get deps.tree \
         deps.unlock deps.update do escript.build format help hex.info loadconfig local local.hex new run \
         test xref",
    ),
];

pub(crate) struct Subcommands(Names);

enum Names {
    List(&'static [&'static str]),
    Words(&'static str),
}

impl Subcommands {
    pub(crate) fn contains(&self, name: &str) -> bool {
        match self.0 {
            Names::List(names) => names.contains(&name),
            Names::Words(names) => names.split_whitespace().any(|each| each == name),
        }
    }
}

/// Returns the known subcommands of a program. Returns `None` if its first word is a program to run, as in `npx`.
pub(crate) fn for_program(program: &str) -> Option<Subcommands> {
    if program == "git" {
        return Some(Subcommands(Names::List(git::KNOWN)));
    }
    let row = ROWS.iter().find(|(programs, _)| programs.contains(&program));
    row.map(|(_, words)| Subcommands(Names::Words(words)))
}
