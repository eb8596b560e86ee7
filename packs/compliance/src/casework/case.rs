//! A compliance case: transactions, customers and a watch list, each read from one table.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use sha2::{Digest as _, Sha256};

use crate::casework::limits;
use crate::casework::names::{Dictionary, Name, key};
use crate::casework::problem::{Code, Problems};
use crate::casework::rules::Rules;
use crate::casework::table::{Column, Row, Table};
use crate::casework::value::{amount, country, day, day_of, time};

pub const TRANSACTIONS: &str = "transactions.csv";
pub const CUSTOMERS: &str = "customers.csv";
pub const WATCH_LIST: &str = "watchlist.csv";
/// Name of the optional file with rules that replace the pack's rules in one case.
pub const OWN_RULES: &str = "rules.yaml";

const OF_TRANSACTIONS: &[Column] = &[
    required("id"),
    required("time"),
    required("customer"),
    required("direction"),
    required("kind"),
    required("amount"),
    required("currency"),
    required("counterparty"),
    required("country"),
];
const OF_CUSTOMERS: &[Column] = &[
    required("id"),
    required("name"),
    optional("birth_date"),
    required("country"),
    required("pep"),
    optional("account"),
];
const OF_WATCHED: &[Column] =
    &[required("id"), required("name"), optional("aliases"), optional("birth_date"), required("list")];

pub(crate) const KINDS: [&str; 9] =
    ["cash", "transfer", "card", "cheque", "crypto", "prepaid", "hawala", "trade", "other"];

const fn required(name: &'static str) -> Column {
    Column { name, required: true }
}

const fn optional(name: &'static str) -> Column {
    Column { name, required: false }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
}

#[derive(Clone, Debug)]
pub struct Transaction {
    /// Line number of the transaction in the transactions file.
    pub row: u64,
    /// Timestamp of the transaction in seconds since 1970.
    pub at: i64,
    /// Index of the transaction's customer in [`Case::customers`].
    pub customer: usize,
    pub direction: Direction,
    pub kind: &'static str,
    /// Amount of the transaction in the table, in hundredths of the transaction's currency.
    pub written: i64,
    pub currency: String,
    /// Amount of the transaction in the base currency, in hundredths.
    pub amount: i64,
    /// Index of the transaction's counterparty in `Case::parties`. `None` if the transaction names none.
    pub party: Option<usize>,
    pub country: [u8; 2],
}

#[derive(Clone, Debug)]
pub struct Customer {
    pub row: u64,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) words: Name,
    pub(crate) birth_date: Option<Date>,
    pub(crate) account: String,
    pub country: [u8; 2],
    pub is_pep: bool,
}

/// Kind of watch list from which an entry of the case's list comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    Sanctions,
    Pep,
}

#[derive(Clone, Debug)]
pub struct Watched {
    pub row: u64,
    pub list: List,
    pub(crate) written: Vec<String>,
    pub(crate) names: Vec<Name>,
    pub(crate) birth_date: Option<Date>,
}

#[derive(Clone, Debug, Default)]
pub struct Case {
    /// Transactions of the case, sorted by time, then by line number.
    pub transactions: Vec<Transaction>,
    /// Customers of the case in the order of their rows in the table.
    pub customers: Vec<Customer>,
    pub watched: Vec<Watched>,
    /// Counterparties of the case in the order of their first transactions, each once.
    pub(crate) parties: Vec<Party>,
    /// SHA-256 of each file of the compliance case, in hexadecimal.
    pub files: BTreeMap<&'static str, String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Party {
    pub name: String,
    pub words: Name,
}

/// Reads the three tables of a case. A transaction after the day `as_of` is an error.
///
/// # Errors
/// Returns all problems and no case if a row is invalid, because a case without this row could lack findings.
pub fn read(
    transactions: &[u8],
    customers: &[u8],
    watched: &[u8],
    rules: &Rules,
    as_of: Date,
) -> Result<Case, Problems> {
    let mut problems = Problems::default();
    let mut case = Case::default();
    let dictionary = rules.names.dictionary();
    for (name, bytes) in [(TRANSACTIONS, transactions), (CUSTOMERS, customers), (WATCH_LIST, watched)] {
        case.files.insert(name, hex(&Sha256::digest(bytes)));
    }
    let table = Table::read(CUSTOMERS, customers, OF_CUSTOMERS, limits::CUSTOMERS, &mut problems);
    let known = table.map(|table| read_customers(&table, as_of, dictionary, &mut case, &mut problems));
    if let Some(table) = Table::read(WATCH_LIST, watched, OF_WATCHED, limits::WATCHED, &mut problems) {
        read_watched(&table, dictionary, &mut case, &mut problems);
    }
    let table = Table::read(TRANSACTIONS, transactions, OF_TRANSACTIONS, limits::TRANSACTIONS, &mut problems);
    if let (Some(table), Some(known)) = (table, known) {
        let reader = Reader { rules, dictionary, as_of, known: &known, parties: BTreeMap::new() };
        reader.read(&table, &mut case, &mut problems);
    }
    let listed: u64 = case.watched.iter().flat_map(|entry| &entry.names).map(Name::cost).sum();
    let customers = case.customers.iter().map(|customer| customer.words.cost());
    let own: u64 = customers.chain(case.parties.iter().map(|party| party.words.cost())).sum();
    if listed.saturating_mul(own) > limits::COMPARISONS {
        let message = format!(
            "the comparison of names costs {} million, but at most {} million are allowed; the cost of a \
                name is its number of letters plus {} for each word, and the cost of the watch list \
                ({listed}) is multiplied by that of the case ({own})",
            listed.saturating_mul(own) / 1_000_000,
            limits::COMPARISONS / 1_000_000,
            limits::WORD_COST,
        );
        problems.of_file(WATCH_LIST, Code::TooManyNames, message);
    }
    if problems.is_empty() { Ok(case) } else { Err(problems) }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Reads the id in a row of a table. Reports an id that another row of the table has.
fn own_id(table: &Table, row: &Row, known: &mut BTreeSet<String>, problems: &mut Problems) -> Option<String> {
    let id = table.value(row, "id", problems, |cell| Ok(cell.to_owned()))?;
    if known.insert(id.clone()) {
        return Some(id);
    }
    table.flaw(row, "id", Code::DuplicateId, problems);
    None
}

fn birth_date(text: &str, as_of: Date) -> Result<Date, Code> {
    let date = day(text)?;
    if date > as_of { Err(Code::FutureDate) } else { Ok(date) }
}

fn yes(text: &str) -> Result<bool, Code> {
    match text {
        "yes" | "true" => Ok(true),
        "no" | "false" => Ok(false),
        _ => Err(Code::BadWord),
    }
}

/// Reads the customers of a case. Also returns the index of each customer by id.
fn read_customers(
    table: &Table,
    as_of: Date,
    dictionary: &Dictionary,
    case: &mut Case,
    problems: &mut Problems,
) -> BTreeMap<String, usize> {
    let (mut ids, mut places) = (BTreeSet::new(), BTreeMap::new());
    for row in &table.rows {
        let id = own_id(table, row, &mut ids, problems);
        let name = table.value(row, "name", problems, |cell| Ok(cell.to_owned()));
        let birth_date = table.optional_value(row, "birth_date", problems, |cell| birth_date(cell, as_of));
        let country = table.value(row, "country", problems, country);
        let is_pep = table.value(row, "pep", problems, yes);
        if let (Some(id), Some(name), Some(country), Some(is_pep)) = (id, name, country, is_pep) {
            places.insert(id.clone(), case.customers.len());
            let (words, account) = (Name::new(&name, dictionary), table.cell(row, "account").to_owned());
            case.customers.push(Customer {
                row: row.line,
                id,
                name,
                words,
                birth_date,
                account,
                country,
                is_pep,
            });
        } else {
            // The id of an invalid row is also remembered. Otherwise the transactions of this customer would be
            // reported as those of an unknown customer.
            let cell = table.cell(row, "id");
            places.entry(cell.to_owned()).or_insert(usize::MAX);
        }
    }
    places
}

fn read_watched(table: &Table, dictionary: &Dictionary, case: &mut Case, problems: &mut Problems) {
    let mut ids = BTreeSet::new();
    for row in &table.rows {
        let id = own_id(table, row, &mut ids, problems);
        let name = table.value(row, "name", problems, |cell| Ok(cell.to_owned()));
        let birth_date = table.optional_value(row, "birth_date", problems, day);
        let list = table.value(row, "list", problems, |cell| match cell {
            "sanctions" => Ok(List::Sanctions),
            "pep" => Ok(List::Pep),
            _ => Err(Code::BadWord),
        });
        let aliases = table.cell(row, "aliases").split('|').map(str::trim).filter(|alias| !alias.is_empty());
        let aliases: Vec<&str> = aliases.collect();
        if aliases.len() > limits::ALIASES {
            table.flaw(row, "aliases", Code::CellTooLong, problems);
        }
        if let (Some(_), Some(name), Some(list)) = (id, name, list) {
            let written: Vec<String> = [&*name].into_iter().chain(aliases).map(str::to_owned).collect();
            let names = written.iter().map(|name| Name::new(name, dictionary)).collect();
            case.watched.push(Watched { row: row.line, list, written, names, birth_date });
        }
    }
}

struct Reader<'r> {
    rules: &'r Rules,
    dictionary: &'r Dictionary,
    as_of: Date,
    known: &'r BTreeMap<String, usize>,
    /// Index of each counterparty, by the counterparty's name in normalized form.
    parties: BTreeMap<String, usize>,
}

impl Reader<'_> {
    fn read(mut self, table: &Table, case: &mut Case, problems: &mut Problems) {
        let mut ids = BTreeSet::new();
        for row in &table.rows {
            let id = own_id(table, row, &mut ids, problems);
            let transaction = self.transaction(table, row, case, problems);
            if id.is_some() {
                case.transactions.extend(transaction);
            }
        }
        case.transactions.sort_by_key(|one| (one.at, one.row));
    }

    fn transaction(
        &mut self,
        table: &Table,
        row: &Row,
        case: &mut Case,
        problems: &mut Problems,
    ) -> Option<Transaction> {
        let as_of = self.as_of;
        let at = table.value(row, "time", problems, |cell| {
            let at = time(cell)?;
            if day_of(at) > as_of { Err(Code::FutureDate) } else { Ok(at) }
        });
        let customer = table.value(row, "customer", problems, |cell| {
            self.known.get(cell).copied().ok_or(Code::UnknownCustomer)
        });
        let direction = table.value(row, "direction", problems, |cell| match cell {
            "in" => Ok(Direction::In),
            "out" => Ok(Direction::Out),
            _ => Err(Code::BadWord),
        });
        let kind = table.value(row, "kind", problems, |cell| {
            KINDS.into_iter().find(|kind| *kind == cell).ok_or(Code::BadWord)
        });
        let written = table.value(row, "amount", problems, amount);
        let rate = table.value(row, "currency", problems, |cell| {
            self.rules.currencies.get(cell).copied().ok_or(Code::UnknownCurrency)
        });
        let country = table.value(row, "country", problems, country);
        let (written, rate) = (written?, rate?);
        let base = (i128::from(written) * i128::from(rate) + 500_000) / 1_000_000;
        let transaction = Transaction {
            row: row.line,
            at: at?,
            customer: customer?,
            direction: direction?,
            kind: kind?,
            written,
            currency: table.cell(row, "currency").to_owned(),
            amount: i64::try_from(base).unwrap_or(i64::MAX),
            party: None,
            country: country?,
        };
        Some(Transaction { party: self.party(table.cell(row, "counterparty"), case), ..transaction })
    }

    fn party(&mut self, name: &str, case: &mut Case) -> Option<usize> {
        if name.is_empty() {
            return None;
        }
        let place = *self.parties.entry(key(name)).or_insert_with(|| {
            let words = Name::new(name, self.dictionary);
            case.parties.push(Party { name: name.to_owned(), words });
            case.parties.len() - 1
        });
        Some(place)
    }
}
