//! Lines whose trial would show something else than the line does in a person's shell.

use holdshort_command::parse;

#[test]
fn a_line_is_tried_or_the_reason_is_said() {
    let (shell, network, other, service, rights, terminal, nothing) = (
        Some("it changes the shell in which later commands run"),
        Some("it may use the network, and a trial has none"),
        Some("it concerns other processes, which a trial does not see"),
        Some("it gives orders to a service of this machine, which a trial does not reach"),
        Some("it needs the rights of another user"),
        Some("it needs a terminal"),
        Some("it runs no program, and may only change the shell"),
    );
    let table = [
        ("ls -la", None),
        ("make test 2>&1 | tail -20", None),
        ("FOO=1 make", None),
        ("set -euo pipefail; make", None),
        ("for f in *.rs; do wc -l $f; done", None),
        ("git ls-files | while read -r f; do echo $f; done", None),
        ("python3 -c 'print(1)'", None),
        ("git commit -m 'cd into it'", None),
        ("echo sudo docker cd", None),
        ("cd sub", shell),
        ("cd sub && make", shell),
        ("make; export A=1", shell),
        (". venv/bin/activate", shell),
        ("source venv/bin/activate && pytest", shell),
        ("bash -c 'cd sub; make'", shell),
        ("set -f", shell),
        ("eval \"$(x)\"", shell),
        ("alias ll='ls -l'", shell),
        ("cat ~/.profile", Some("it names a home folder, which a trial does not show")),
        ("A=1", nothing),
        ("", nothing),
        ("git push", network),
        ("git fetch origin", network),
        ("npm install", network),
        ("pip install x", network),
        ("curl http://example.org", network),
        ("ssh host ls", network),
        ("make && git push", network),
        ("kill 1", other),
        ("nohup make", other),
        ("ps aux | grep node", other),
        ("docker ps", service),
        ("systemctl restart x", service),
        ("sudo make install", rights),
        ("/usr/bin/sudo ls", rights),
        ("vim a", terminal),
        ("git log | less", terminal),
    ];
    for (line, why) in table {
        assert_eq!(parse(line).why_untriable(), why, "{line}");
    }
}
