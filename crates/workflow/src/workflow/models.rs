//! Reads `models`: context window and price of each model, by the name that agents and runs use. The server's
//! configuration has the address of the model.

use std::collections::BTreeMap;

use holdshort_core::limits::WINDOW_TOKENS_LEAST;
use holdshort_core::pricing::{self, ModelTerms, Price};

use crate::bounds;
use crate::item::{Item, Keys};
use crate::problem::Problems;

const MODEL: Keys = Keys { known: &["window_tokens", "price"], later: &[] };
const PRICE: Keys = Keys { known: &["input_per_million", "output_per_million", "currency"], later: &[] };

pub(super) fn read(item: &Item<'_>, problems: &mut Problems) -> BTreeMap<String, ModelTerms> {
    let mut models: BTreeMap<String, ModelTerms> = BTreeMap::new();
    let entries = item.entries(problems).unwrap_or_default();
    if entries.len() > bounds::LIST {
        problems.at(item, format!("{} models; at most {} are allowed", entries.len(), bounds::LIST));
        return models;
    }
    for (name, key, value) in entries {
        if name.trim().is_empty() || name.chars().count() > bounds::LINE || name.contains("://") {
            problems.at(&key, "this is not a valid model name");
            continue;
        }
        let terms = model(&value, problems);
        // All prices must have the same currency: costs are added, and compared with budgets.
        let other = models.values().filter_map(|terms| terms.price.as_ref());
        let other = other.map(|price| price.currency.clone()).next();
        if let (Some(price), Some(other)) = (&terms.price, other)
            && price.currency != other
        {
            problems.at(
                &value,
                format!("all prices of a workflow must be in one currency, but another price is in {other}"),
            );
        }
        models.insert(name.to_owned(), terms);
    }
    models
}

fn model(item: &Item<'_>, problems: &mut Problems) -> ModelTerms {
    let Some(fields) = item.fields(&MODEL, problems) else { return ModelTerms::default() };
    let window = fields.find("window_tokens");
    let window_tokens = window.and_then(|item| {
        let window = item.count(bounds::TOKENS, problems)?;
        if window < WINDOW_TOKENS_LEAST {
            problems.at(item, format!("a context window has at least {WINDOW_TOKENS_LEAST} tokens"));
            return None;
        }
        Some(window)
    });
    let is_meant =
        ["price", "window_tokens"].iter().any(|key| fields.find(key).is_some() || fields.was_meant(key));
    if !is_meant {
        problems.at(item, "the model has no settings: add `window_tokens`, `price`, or both");
    }
    ModelTerms { window_tokens, price: fields.find("price").and_then(|item| price(item, problems)) }
}

fn price(item: &Item<'_>, problems: &mut Problems) -> Option<Price> {
    let fields = item.fields(&PRICE, problems)?;
    let mut of = |key| fields.need(key, problems).and_then(|item| money(item, problems));
    let (input, output) = (of("input_per_million"), of("output_per_million"));
    let currency = fields.need("currency", problems).and_then(|item| {
        let currency = item.text(bounds::NAME, problems)?;
        if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
            problems.at(item, "a currency is three capital letters, such as `USD`");
            return None;
        }
        Some(currency)
    });
    Some(Price { input_per_million: input?, output_per_million: output?, currency: currency? })
}

/// Reads an amount of money in millionths of the currency unit. The amount must be a text in YAML, so that the amount
/// never becomes a floating-point number.
pub(super) fn money(item: &Item<'_>, problems: &mut Problems) -> Option<u64> {
    let text = item.text(bounds::NAME, problems)?;
    let amount = pricing::millionths(&text).filter(|amount| *amount <= bounds::MONEY);
    if amount.is_none() {
        problems
            .at(item, "expected an amount as a text, such as `\"2.50\"`, with six decimal places at most");
    }
    amount
}
