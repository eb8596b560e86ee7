//! Effects of programs other than reading: running code, connecting to the network, and installing software.
//!
//! A row can make the class of a command more severe, but never less severe. A program without a row has the class
//! [`Class::Runs`], even if it can connect to the network.

use crate::Class;

/// Programs, and the words that put their commands into a class of effects. In both lists, the entries are separated by
/// spaces. A word is a subcommand. `a:b` means two consecutive words, and `a:*` means a word that is followed by any
/// word. `*` means any words, and `-` means no words.
pub(crate) struct Row {
    pub(crate) programs: &'static str,
    pub(crate) words: &'static str,
    pub(crate) class: Class,
}

const fn code(programs: &'static str, words: &'static str) -> Row {
    Row { programs, words, class: Class::RunsCode }
}

const fn web(programs: &'static str, words: &'static str) -> Row {
    Row { programs, words, class: Class::ReachesOut }
}

const fn installs(programs: &'static str, words: &'static str) -> Row {
    Row { programs, words, class: Class::Installs }
}

pub(crate) const ROWS: &[Row] = &[
    code("ldd ensurepip", "*"),
    code("deno", "run eval repl serve bench test"),
    code("yarn", "node"),
    code("dotnet", "fsi"),
    // Programs that are made for network connections.
    web(
        "curl wget ssh scp sftp rsync nc ncat netcat telnet ftp lftp tftp xdg-open socat ping ping6 traceroute tracepath \
         mtr dig drill nslookup host whois ssh-copy-id ssh-keyscan sshfs mosh http https httpie xh curlie aria2c lynx \
         links elinks w3m nmap rclone s3cmd s5cmd gsutil smbclient yt-dlp youtube-dl websocat wscat grpcurl ab wrk hey k6 \
         mail mailx sendmail mutt",
        "*",
    ),
    // Clients of services.
    web(
        "gh glab hub aws az gcloud kubectl oc eksctl doctl fly flyctl vercel netlify heroku wrangler firebase serverless \
         pulumi ansible ansible-playbook ansible-galaxy ansible-pull vagrant twine skopeo crane",
        "*",
    ),
    // Clients of databases. A database may be on any host.
    web(
        "psql pg_dump pg_dumpall pg_restore pg_isready createdb dropdb createuser mysql mysqldump mysqladmin mariadb \
         redis-cli mongo mongosh mongodump mongorestore",
        "*",
    ),
    web(
        "git",
        "push pull fetch clone ls-remote send-pack fetch-pack http-fetch http-push imap-send send-email request-pull lfs svn \
         p4 remote:update remote:show remote:prune remote:set-head submodule:update submodule:add",
    ),
    web(
        "svn",
        "update up checkout co commit ci export import switch lock unlock log list ls cat info merge copy cp delete rm mkdir",
    ),
    web("hg", "pull push clone incoming in outgoing out identify id"),
    web("cargo", "publish search fetch login logout owner yank info"),
    web(
        "npm pnpm yarn bun",
        "publish unpublish view info show v search s outdated audit login logout adduser whoami ping owner deprecate dist-tag \
         tag access token team org hook profile star unstar stars doctor docs repo bugs diff fund",
    ),
    web("pip pip3", "download index search"),
    web("uv", "publish lock audit pip:compile"),
    web("poetry pdm", "publish search lock"),
    web("go", "mod:download mod:tidy mod:vendor mod:why mod:graph"),
    web("gem", "push fetch search outdated owner yank signin"),
    web("bundle", "outdated lock audit"),
    web("composer", "outdated search audit diagnose"),
    web("mix", "hex.publish hex.info hex.outdated"),
    web("dotnet", "nuget"),
    web("mvn", "deploy"),
    web("brew", "search fetch outdated info home"),
    web("conda mamba micromamba", "search"),
    web("rustup", "check"),
    web("apt apt-get aptitude", "download source changelog"),
    web("openssl", "s_client s_time ocsp"),
    web(
        "docker podman nerdctl",
        "pull push run build create login search compose:up compose:pull compose:push compose:build compose:run compose:create \
         buildx:build buildx:bake builder:build image:pull image:push image:build container:run container:create manifest \
         stack service plugin",
    ),
    web(
        "helm",
        "install upgrade uninstall delete rollback test status history list ls get pull push repo dependency dep registry search",
    ),
    web(
        "terraform tofu",
        "init plan apply destroy refresh import get login logout state workspace test output console providers force-unlock",
    ),
    // Programs that install software with any arguments.
    installs(
        "dpkg rpm dnf yum pacman apk snap npx pnpx bunx uvx pipx zypper flatpak emerge nix-env guix winget choco scoop \
         easy_install cpan cpanm corepack nvm fnm volta",
        "*",
    ),
    installs(
        "pip pip3 uv npm pnpm yarn bun apt apt-get aptitude cargo gem go brew poetry pdm rye pipenv rustup conda mamba \
         micromamba bundle composer deno mise asdf pyenv rbenv nodenv cabal stack opam luarocks pkg port playwright",
        "install add i ci upgrade update sync get toolchain",
    ),
    installs(
        "npm pnpm yarn bun",
        "in ins inst isntall it cit clean-install install-test install-ci-test up udpate dlx create init:* audit:fix \
         set:version",
    ),
    // In other programs, these words run an installed program, or a script with that name.
    installs("npm", "exec x"),
    installs("bun", "x"),
    installs("yarn bundle", "-"),
    installs("uv", "tool:run tool:install tool:upgrade pip:install pip:sync python:install self:update"),
    installs("poetry", "self:add self:update self:install"),
    installs("pip pip3", "wheel"),
    installs("cargo", "binstall"),
    installs("rustup", "target:add component:add default self:update"),
    installs("conda mamba micromamba", "create env:create env:update"),
    installs("composer", "require create-project global"),
    installs("mix", "deps.get deps.update archive.install escript.install local.hex local.rebar"),
    installs("dotnet", "restore add tool workload"),
    installs("apt apt-get aptitude", "dist-upgrade full-upgrade build-dep reinstall"),
    installs("brew", "tap bundle reinstall"),
    installs("gh", "extension:install extension:upgrade"),
    installs("helm", "plugin:install plugin:update"),
];

/// Options that make the class of a command more severe. The options of a row with a first word apply only to commands
/// with this word.
pub(crate) const OPTIONS: &[(Row, &[&str])] = &[
    (web("git", "archive"), &["--remote"]),
    (web("git", "remote"), &["-f", "--fetch"]),
    (web("pip pip3", "list"), &["--outdated", "-o", "--uptodate", "-u"]),
    (installs("uv", "run"), &["--with", "--with-requirements", "--with-editable"]),
    (installs("code codium cursor", "*"), &["--install-extension"]),
];
