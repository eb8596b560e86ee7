//! Store tests for lists: filters, order, and pages that stay correct while rows are added, with every store.

use holdshort_core::history;
use holdshort_core::id::{RunId, SessionId};
use holdshort_core::interrupt::Kind;
use holdshort_core::projection::{
    AnswerRow, GrantRow, InterruptRow, RunRow, SessionRow, SessionUsage, Status,
};
use holdshort_core::session::{End, State};
use holdshort_store::{
    AnswerFilter, Append, Cursor, Due, Error, GrantFilter, InterruptFilter, Journal, Leases, Log, Rows,
    RunFilter, Search, SessionFilter, Tables,
};

use crate::conformance::on_every_store;
use crate::fixture::{
    answer_row, at, id, interrupt_row, put, put_interrupt, put_run, put_session, run_row, session_row,
};
use crate::subject::Subject;

on_every_store! {
    runs_are_listed_newest_first_by_every_filter,
    sessions_are_listed_newest_first_by_every_filter,
    a_session_that_is_suspended_moves_to_another_list,
    idle_sessions_are_those_in_which_nothing_happens,
    what_the_runs_of_a_session_used_is_summed_by_currency,
    interrupts_are_listed_by_every_filter,
    grants_are_listed_newest_first_by_every_filter,
    a_grant_that_is_revoked_moves_to_the_other_half,
    answers_are_listed_newest_first_by_every_filter,
    answers_are_found_by_words_and_never_across_subjects,
    an_answer_that_is_erased_is_found_no_longer,
    pages_of_runs_are_stable_under_inserts,
    pages_of_interrupts_are_stable_under_inserts,
    an_interrupt_that_resolves_moves_to_the_other_half,
    the_last_page_has_no_cursor,
    a_cursor_of_something_else_is_refused,
    the_driver_finds_what_can_run,
    the_driver_finds_what_is_due,
}

const COUNT: u64 = 84;

async fn runs_are_listed_newest_first_by_every_filter<S: Subject>() {
    let store = S::open().await;
    for n in 0..COUNT {
        put_run(&**store.journal(), run_row(n)).await;
    }
    for status in [None, Some(Status::Running), Some(Status::Waiting)] {
        for workflow in [None, Some("pair".to_owned()), Some("unknown".to_owned())] {
            for session in [None, Some(id::<SessionId>(1)), Some(id(99))] {
                let filter = RunFilter { status, workflow: workflow.clone(), session };
                let mut expected: Vec<RunRow> = (0..COUNT).map(run_row).collect();
                expected.retain(|row| {
                    filter.status.is_none_or(|status| row.status == status)
                        && filter.workflow.as_ref().is_none_or(|workflow| row.workflow == *workflow)
                        && filter.session.as_ref().is_none_or(|session| row.session == *session)
                });
                expected.sort_by(|a, b| b.run.cmp(&a.run));
                assert_eq!(all_runs(&**store.journal(), &filter, 5).await, expected, "{filter:?}");
            }
        }
    }
}

async fn sessions_are_listed_newest_first_by_every_filter<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    for n in 0..COUNT {
        put_session(journal, session_row(n)).await;
    }
    // Runs of the workflows `pair` and `crew`, each in a separate session.
    for n in 0..20 {
        put_run(journal, RunRow { session: id(n), ..run_row(n) }).await;
    }
    let closed = [State::Closed(End::Completed), State::Closed(End::Expired)];
    for states in [&[][..], &[State::Open], &[State::Suspended], &closed, &State::ALL] {
        for workflow in [None, Some("mars"), Some("pair"), Some("unknown"), Some("\0")] {
            let filter = SessionFilter {
                states: states.iter().copied().collect(),
                workflow: workflow.map(Into::into),
            };
            let mut expected: Vec<SessionRow> = (0..COUNT).map(session_row).rev().collect();
            expected.retain(|row| states.is_empty() || states.contains(&row.state));
            expected.retain(|row| match workflow {
                None => true,
                Some("pair") => (0..20).step_by(2).any(|n| row.session == id(n)),
                Some(workflow) => row.workflow.as_deref() == Some(workflow),
            });
            assert_eq!(all_sessions(journal, &filter, 5).await, expected, "{filter:?}");
        }
    }
    let of_runs = journal.runs(&RunFilter::default(), None, 1).await.unwrap().next.unwrap();
    for cursor in ["", "s", "s.x", "r.run_x"].map(Cursor::from).iter().chain([&of_runs]) {
        let refused = journal.sessions(&SessionFilter::default(), Some(cursor), 1).await;
        assert!(matches!(refused, Err(Error::BadCursor)), "{cursor}: {refused:?}");
    }
}

async fn a_session_that_is_suspended_moves_to_another_list<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    let open = SessionRow { state: State::Open, seq: 1, created_at: at(1), ..session_row(1) };
    put_session(journal, open.clone()).await;
    let those = async |state| {
        let filter = SessionFilter { states: [state].into(), ..SessionFilter::default() };
        all_sessions(journal, &filter, 10).await
    };
    assert_eq!((those(State::Open).await, those(State::Suspended).await), (vec![open.clone()], vec![]));
    let suspended = SessionRow { state: State::Suspended, seq: 2, ..open };
    put_session(journal, suspended.clone()).await;
    assert_eq!((those(State::Open).await, those(State::Suspended).await), (vec![], vec![suspended]));
}

async fn what_the_runs_of_a_session_used_is_summed_by_currency<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    assert_eq!(journal.session_usage(&id(1)).await.unwrap(), []);
    for n in 1..=12 {
        put_run(journal, RunRow { session: id(n % 2), ..run_row(n) }).await;
    }
    let usage = |currency: Option<&str>, runs: &[u64]| {
        let mut usage = SessionUsage { currency: currency.map(str::to_owned), ..SessionUsage::default() };
        for n in runs {
            usage.add(&run_row(*n));
        }
        usage
    };
    let even = [usage(Some("EUR"), &[4, 8, 12]), usage(Some("USD"), &[2, 6, 10])];
    assert_eq!(journal.session_usage(&id(0)).await.unwrap(), even);
    assert_eq!(journal.session_usage(&id(1)).await.unwrap(), [usage(None, &[1, 3, 5, 7, 9, 11])]);
    let counted = |usage: &SessionUsage| (usage.requests, usage.cost, usage.duration_ms);
    assert_eq!(even.each_ref().map(counted), [(0, 324, 15), (18, 318, 12)]);
}

async fn idle_sessions_are_those_in_which_nothing_happens<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    let idle = async |now, limit| {
        let found = journal.idle_sessions(at(now), limit).await.unwrap();
        (1..=8).filter(|n| found.contains(&id(*n))).collect::<Vec<u64>>()
    };
    let opened = |n, state| SessionRow {
        session: id(n),
        state,
        seq: 1,
        created_at: at(100),
        changed_at: at(100),
        idle_ms: Some(50),
        workflow: None,
        front_run: None,
        idle_since: at(100),
    };
    // The start and the end of a run are activity of the run's session.
    let active = |n, last_at| SessionRow::from_run(id(n), at(100), at(last_at));
    put_session(journal, opened(1, State::Open)).await;
    put_session(journal, opened(2, State::Suspended)).await;
    put_session(journal, opened(3, State::Closed(End::Completed))).await;
    put_session(journal, SessionRow { idle_ms: None, ..opened(4, State::Open) }).await;
    for n in 5..=7 {
        put_session(journal, opened(n, State::Open)).await;
    }
    let run =
        |n, status, updated_at| RunRow { session: id(n), status, updated_at: at(updated_at), ..run_row(n) };
    put_run(journal, run(5, Status::Waiting, 1)).await;
    put_run(journal, run(6, Status::Completed, 120)).await;
    put_session(journal, active(6, 120)).await;
    put_run(journal, run(7, Status::Failed, 90)).await;
    assert_eq!(idle(149, 10).await, [0; 0]);
    assert_eq!(idle(150, 10).await, [1, 2, 7]);
    assert_eq!(idle(169, 10).await, [1, 2, 7]);
    assert_eq!(idle(170, 10).await, [1, 2, 6, 7], "the run of the sixth ended later");
    assert_eq!(idle(170, 2).await, [1, 2]);
    put_run(journal, run(5, Status::Cancelled, 160)).await;
    put_session(journal, active(5, 160)).await;
    assert_eq!((idle(209, 10).await, idle(210, 10).await), (vec![1, 2, 6, 7], vec![1, 2, 5, 6, 7]));
}

fn some_marks() -> Vec<Option<Vec<String>>> {
    let some = |marks: &[&str]| Some(marks.iter().map(|mark| format!("\n{mark}\n")).collect());
    vec![
        None,
        some(&[]),
        some(&["p:ann"]),
        some(&["g:100%", "g:a_b"]),
        some(&["p:nobody", "*"]),
        some(&["p:Łukasz"]),
    ]
}

async fn interrupts_are_listed_by_every_filter<S: Subject>() {
    let store = S::open().await;
    for n in 0..4 {
        put_run(&**store.journal(), run_row(n)).await;
    }
    for n in 0..COUNT {
        put_interrupt(&**store.journal(), interrupt_row(n)).await;
    }
    for open in [None, Some(true), Some(false)] {
        for run in [None, Some(id::<RunId>(1)), Some(id(99))] {
            for session in [None, Some(id::<SessionId>(1))] {
                for kind in [None, Some(Kind::PlanApproval), Some(Kind::UnknownOutcome)] {
                    for marks in some_marks() {
                        let (run, session) = (run.clone(), session.clone());
                        let filter = InterruptFilter { open, run, session, kind, marks };
                        let expected = expected_interrupts(&filter);
                        let listed = all_interrupts(&**store.journal(), &filter, 4).await;
                        assert_eq!(listed, expected, "{filter:?}");
                    }
                }
            }
        }
    }
}

fn grant_row(n: u64) -> GrantRow {
    GrantRow { grant: id(n), session: id(n % 3), added_seq: n + 1, revoked: n.is_multiple_of(3) }
}

async fn put_grant(journal: &impl Journal, row: GrantRow) {
    put(journal, Rows { grants: vec![row], ..Rows::default() }).await;
}

async fn grants_are_listed_newest_first_by_every_filter<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    for n in 0..COUNT {
        put_grant(journal, grant_row(n)).await;
    }
    for revoked in [None, Some(false), Some(true)] {
        let mut expected: Vec<GrantRow> = (0..COUNT).rev().map(grant_row).collect();
        expected.retain(|row| revoked.is_none_or(|revoked| row.revoked == revoked));
        assert_eq!(all_grants(journal, &GrantFilter { revoked }, 5).await, expected, "{revoked:?}");
    }
    let of_grants = journal.grants(&GrantFilter::default(), None, 1).await.unwrap().next.unwrap();
    assert!(matches!(journal.runs(&RunFilter::default(), Some(&of_grants), 1).await, Err(Error::BadCursor)));
    for cursor in ["", "g", "g.x", "r.run_x"].map(Cursor::from) {
        let refused = journal.grants(&GrantFilter::default(), Some(&cursor), 1).await;
        assert!(matches!(refused, Err(Error::BadCursor)), "{cursor}: {refused:?}");
    }
}

async fn a_grant_that_is_revoked_moves_to_the_other_half<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    let stands = GrantRow { revoked: false, ..grant_row(1) };
    put_grant(journal, stands.clone()).await;
    let half = async |revoked| all_grants(journal, &GrantFilter { revoked: Some(revoked) }, 10).await;
    assert_eq!((half(false).await, half(true).await), (vec![stands.clone()], vec![]));
    let revoked = GrantRow { revoked: true, ..stands };
    put_grant(journal, revoked.clone()).await;
    assert_eq!((half(false).await, half(true).await), (vec![], vec![revoked]));
}

/// Computes the expected list of interrupts without a store: open ones by descending risk and then oldest first, then
/// resolved ones.
fn expected_interrupts(filter: &InterruptFilter) -> Vec<InterruptRow> {
    let rows = (0..COUNT).map(interrupt_row).filter(|row| {
        filter.open.is_none_or(|open| row.open == open)
            && filter.run.as_ref().is_none_or(|run| row.run == *run)
            && filter.session.as_ref().is_none_or(|session| row.session == *session)
            && filter.kind.is_none_or(|kind| row.kind == kind)
            && filter.marks.as_ref().is_none_or(|marks| {
                let assigned = row.assigned.as_deref().unwrap_or_default();
                marks.iter().any(|mark| assigned.contains(mark.as_str()))
            })
    });
    let (mut open, mut resolved): (Vec<_>, Vec<_>) = rows.partition(|row| row.open);
    open.sort_by(|a, b| b.risk.cmp(&a.risk).then_with(|| a.interrupt.cmp(&b.interrupt)));
    resolved.sort_by(|a, b| b.interrupt.cmp(&a.interrupt));
    open.append(&mut resolved);
    open
}

async fn pages_of_runs_are_stable_under_inserts<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    for n in 0..20 {
        put_run(journal, run_row(n * 2)).await;
    }
    let before = all_runs(journal, &RunFilter::default(), 100).await;
    let (mut listed, mut after, mut next) = (Vec::new(), None, 1);
    loop {
        let page = journal.runs(&RunFilter::default(), after.as_ref(), 3).await.unwrap();
        listed.extend(page.items);
        for n in [next, 40 + next] {
            put_run(journal, run_row(n)).await;
        }
        next += 2;
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert!(listed.is_sorted_by(|a, b| (a.created_at, &a.run) > (b.created_at, &b.run)));
    listed.retain(|row| before.contains(row));
    assert_eq!(listed, before);
}

async fn pages_of_interrupts_are_stable_under_inserts<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    for n in 0..30 {
        put_interrupt(journal, interrupt_row(n * 2)).await;
    }
    let before = all_interrupts(journal, &InterruptFilter::default(), 100).await;
    let (mut listed, mut after, mut next) = (Vec::new(), None, 1);
    loop {
        let page = journal.interrupts(&InterruptFilter::default(), after.as_ref(), 3).await.unwrap();
        listed.extend(page.items);
        for n in [next, 60 + next] {
            put_interrupt(journal, interrupt_row(n)).await;
        }
        next += 2;
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let ids: std::collections::BTreeSet<_> = listed.iter().map(|row| &row.interrupt).collect();
    assert_eq!(ids.len(), listed.len(), "a row stands on two pages");
    listed.retain(|row| before.contains(row));
    assert_eq!(listed, before);
}

async fn an_interrupt_that_resolves_moves_to_the_other_half<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    let open = InterruptRow { open: true, resolved_seq: None, ..interrupt_row(1) };
    put_interrupt(journal, open.clone()).await;
    let half = async |open| {
        let filter = InterruptFilter { open: Some(open), ..InterruptFilter::default() };
        all_interrupts(journal, &filter, 10).await
    };
    assert_eq!((half(true).await, half(false).await), (vec![open.clone()], vec![]));
    let resolved = InterruptRow { open: false, resolved_seq: Some(9), ..open };
    put_interrupt(journal, resolved.clone()).await;
    assert_eq!((half(true).await, half(false).await), (vec![], vec![resolved]));
}

async fn the_last_page_has_no_cursor<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    for n in 0..4 {
        put_run(journal, run_row(n)).await;
        put_interrupt(journal, interrupt_row(n)).await;
    }
    for (limit, more) in [(3, true), (4, false), (5, false), (usize::MAX, false), (0, false)] {
        let runs = journal.runs(&RunFilter::default(), None, limit).await.unwrap();
        let interrupts = journal.interrupts(&InterruptFilter::default(), None, limit).await.unwrap();
        assert_eq!((runs.items.len(), runs.next.is_some()), (limit.min(4), more));
        assert_eq!((interrupts.items.len(), interrupts.next.is_some()), (limit.min(4), more));
    }
}

async fn a_cursor_of_something_else_is_refused<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    for n in 0..4 {
        put_run(journal, run_row(n)).await;
        put_interrupt(journal, interrupt_row(n)).await;
    }
    let of_runs = journal.runs(&RunFilter::default(), None, 1).await.unwrap().next.unwrap();
    let of_interrupts = journal.interrupts(&InterruptFilter::default(), None, 1).await.unwrap().next.unwrap();
    let bad = ["", "x", "r", "r.1", "r.run_x", "o.999.1.int_", "r.99999999999999999999.run_", "\0", "🛬"];
    for cursor in bad.map(Cursor::from).iter().chain([&of_interrupts]) {
        let refused = journal.runs(&RunFilter::default(), Some(cursor), 1).await;
        assert!(matches!(refused, Err(Error::BadCursor)), "{cursor}: {refused:?}");
    }
    for cursor in bad.map(Cursor::from).iter().chain([&of_runs]) {
        let refused = journal.interrupts(&InterruptFilter::default(), Some(cursor), 1).await;
        assert!(matches!(refused, Err(Error::BadCursor)), "{cursor}: {refused:?}");
    }
}

async fn the_driver_finds_what_can_run<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    for n in [3, 2, 1] {
        put_run(journal, RunRow { runnable: true, ..run_row(n) }).await;
    }
    put_run(journal, RunRow { runnable: false, ..run_row(0) }).await;
    // In a store with several nodes, a node must claim a run before it drives the run.
    journal.claim(10).await.unwrap();
    assert_eq!(journal.runnable(10).await.unwrap(), [1, 2, 3].map(id::<RunId>));
    assert_eq!(journal.runnable(1).await.unwrap(), [id::<RunId>(1)]);
    put_run(journal, RunRow { runnable: false, ..run_row(2) }).await;
    assert_eq!(journal.runnable(10).await.unwrap(), [1, 3].map(id::<RunId>));
}

async fn the_driver_finds_what_is_due<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    assert_eq!(journal.next_deadline().await.unwrap(), None);
    for (n, deadline) in [(1, Some(30)), (2, Some(10)), (3, Some(20)), (4, None)] {
        put_run(journal, RunRow { deadline: deadline.map(at), ..run_row(n) }).await;
    }
    assert_eq!(journal.next_deadline().await.unwrap(), Some(at(10)));
    // Runs with the same deadline sort by their ids.
    put_run(journal, RunRow { deadline: Some(at(20)), ..run_row(5) }).await;
    let due = |(deadline, n)| Due { deadline: at(deadline), run: id::<RunId>(n) };
    let all = [(10, 2), (20, 3), (20, 5), (30, 1)].map(due);
    for (now, reached) in [(9, 0), (10, 1), (20, 3), (99, 4)] {
        assert_eq!(journal.due(at(now), None, 10).await.unwrap(), all[..reached], "at {now}");
    }
    for (i, after) in all.iter().enumerate() {
        assert_eq!(journal.due(at(99), Some(after), 10).await.unwrap(), all[i + 1..], "behind {after:?}");
    }
    assert_eq!(journal.due(at(99), None, 1).await.unwrap(), all[..1]);
    assert_eq!(journal.due(at(20), Some(&all[1]), 1).await.unwrap(), all[2..3]);
    put_run(journal, RunRow { deadline: None, ..run_row(5) }).await;
    put_run(journal, RunRow { deadline: None, ..run_row(2) }).await;
    assert_eq!(journal.next_deadline().await.unwrap(), Some(at(20)));
}

async fn all_runs(journal: &impl Journal, filter: &RunFilter, limit: usize) -> Vec<RunRow> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = journal.runs(filter, after.as_ref(), limit).await.unwrap();
        all.extend(page.items);
        after = page.next;
        if after.is_none() {
            return all;
        }
    }
}

async fn all_sessions(journal: &impl Journal, filter: &SessionFilter, limit: usize) -> Vec<SessionRow> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = journal.sessions(filter, after.as_ref(), limit).await.unwrap();
        all.extend(page.items);
        after = page.next;
        if after.is_none() {
            return all;
        }
    }
}

async fn all_interrupts(journal: &impl Journal, filter: &InterruptFilter, limit: usize) -> Vec<InterruptRow> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = journal.interrupts(filter, after.as_ref(), limit).await.unwrap();
        all.extend(page.items);
        after = page.next;
        if after.is_none() {
            return all;
        }
    }
}

async fn all_grants(journal: &impl Journal, filter: &GrantFilter, limit: usize) -> Vec<GrantRow> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = journal.grants(filter, after.as_ref(), limit).await.unwrap();
        all.extend(page.items);
        after = page.next;
        if after.is_none() {
            return all;
        }
    }
}

async fn put_answer(journal: &impl Journal, row: AnswerRow) {
    put(journal, Rows { answers: vec![row], ..Rows::default() }).await;
}

async fn all_answers(journal: &impl Journal, filter: &AnswerFilter, limit: usize) -> Vec<AnswerRow> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = journal.answers(filter, after.as_ref(), limit).await.unwrap();
        all.extend(page.items);
        after = page.next;
        if after.is_none() {
            return all;
        }
    }
}

async fn answers_are_listed_newest_first_by_every_filter<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    for n in 0..COUNT {
        put_answer(journal, answer_row(n)).await;
    }
    let rows = || (0..COUNT).map(answer_row);
    for subject in [None, Some("athlete-7"), Some("Ünïcode  ' subject"), Some("nobody"), Some("\0")] {
        for run in [None, Some(id::<RunId>(1))] {
            for asked in [None, Some(history::question_key("How is the  KNEE?"))] {
                for source in [None, Some(id(4)), Some(id(77))] {
                    let filter = AnswerFilter {
                        subject: subject.map(str::to_owned),
                        run: run.clone(),
                        asked: asked.clone(),
                        source: source.clone(),
                        search: None,
                    };
                    let mut expected: Vec<AnswerRow> = rows().collect();
                    expected.retain(|row| {
                        subject.is_none_or(|subject| row.subject == subject)
                            && run.as_ref().is_none_or(|run| row.run == *run)
                            && asked.as_ref().is_none_or(|asked| row.asked == *asked)
                            && (source.is_none() || row.source == source)
                    });
                    expected.sort_by(|a, b| b.interrupt.cmp(&a.interrupt));
                    assert_eq!(all_answers(journal, &filter, 5).await, expected, "{filter:?}");
                }
            }
        }
    }
    let of_runs = Cursor::from("r.run_x");
    let refused = journal.answers(&AnswerFilter::default(), Some(&of_runs), 1).await;
    assert!(matches!(refused, Err(Error::BadCursor)), "{refused:?}");
}

async fn answers_are_found_by_words_and_never_across_subjects<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    for n in 0..COUNT {
        put_answer(journal, answer_row(n)).await;
    }
    for searched in [
        "knee",
        "Knee SLEEP",
        "how is the",
        "élan",
        "ÉLAN",
        "elan",
        "走",
        "on",
        "and or not near",
        "12",
        "don't",
        "zzz",
        "",
    ] {
        let words = history::searched(searched);
        for search in [Search::All(words.clone()), Search::Any(words.clone())] {
            for subject in [None, Some("athlete-8".to_owned())] {
                let has = |row: &AnswerRow, word: &String| row.words.split(' ').any(|own| own == word);
                let mut expected: Vec<AnswerRow> = (0..COUNT).map(answer_row).rev().collect();
                expected.retain(|row| {
                    subject.as_ref().is_none_or(|subject| row.subject == *subject)
                        && match &search {
                            Search::All(words) => words.iter().all(|word| has(row, word)),
                            Search::Any(words) => words.iter().any(|word| has(row, word)),
                        }
                });
                let filter = AnswerFilter {
                    subject: subject.clone(),
                    search: Some(search.clone()),
                    ..AnswerFilter::default()
                };
                assert_eq!(all_answers(journal, &filter, 4).await, expected, "{searched}: {filter:?}");
            }
        }
    }
}

async fn an_answer_that_is_erased_is_found_no_longer<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    let row = answer_row(3);
    put_answer(journal, row.clone()).await;
    let found = async |word: &str| {
        let search = Some(Search::All(history::searched(word)));
        all_answers(journal, &AnswerFilter { search, ..AnswerFilter::default() }, 9).await
    };
    assert_eq!(found("knee").await, std::slice::from_ref(&row));
    let corrected = AnswerRow { answer: "hip".to_owned(), words: "hip".to_owned(), ..row.clone() };
    put_answer(journal, corrected.clone()).await;
    assert_eq!((found("knee").await, found("hip").await), (vec![], vec![corrected]));
    let erased =
        AnswerRow { answer: String::new(), words: String::new(), asked: String::new(), erased: true, ..row };
    put_answer(journal, erased.clone()).await;
    assert_eq!((found("knee").await, found("hip").await), (vec![], vec![]));
    assert_eq!(all_answers(journal, &AnswerFilter::default(), 9).await, [erased]);
    journal.replace_rows(vec![Rows { answers: vec![answer_row(3)], ..Rows::default() }]).await.unwrap();
    assert_eq!(found("knee").await, [answer_row(3)]);
    // The answers of a forgotten run are deleted.
    put_answer(journal, answer_row(2)).await;
    let append = Append { forgets: Some(answer_row(3).run), ..Append::default() };
    journal.append(append).await.unwrap();
    assert_eq!(found("knee").await, []);
    assert_eq!(all_answers(journal, &AnswerFilter::default(), 9).await, [answer_row(2)]);
}
