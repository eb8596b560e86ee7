//! Maps and lists whose copies share memory. Copying takes constant time, and changing takes logarithmic time.

use std::borrow::Borrow;
use std::ops::Index;
use std::sync::Arc;

use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync, VectorSync};

/// Sorted map whose copies share memory.
pub type SharedMap<K, V> = RedBlackTreeMapSync<K, V>;

/// List whose copies share memory.
pub type SharedList<T> = VectorSync<T>;

/// Entry of an [`OpenMap`].
pub trait Open: Clone {
    /// Returns true if the entry can still cause work. Examples of open entries are a step or call that has not ended,
    /// and an interrupt that is not resolved.
    fn is_open(&self) -> bool;
}

/// Sorted map whose copies share memory. The map can iterate over its open entries without visiting the other entries.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenMap<K: Ord, V> {
    entries: SharedMap<K, Arc<V>>,
    open: RedBlackTreeSetSync<K>,
}

impl<K: Ord, V> Default for OpenMap<K, V> {
    fn default() -> Self {
        Self { entries: SharedMap::new_sync(), open: RedBlackTreeSetSync::new_sync() }
    }
}

impl<K: Ord + Clone, V: Open> OpenMap<K, V> {
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&Arc<V>>
    where
        K: Borrow<Q>,
    {
        self.entries.get(key)
    }

    pub fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &Arc<V>)>
    where
        K: Borrow<Q>,
    {
        self.entries.get_key_value(key)
    }

    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.entries.contains_key(key)
    }

    pub fn len(&self) -> usize {
        self.entries.size()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns all entries in the order of their keys.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &Arc<V>)> {
        self.entries.iter()
    }

    /// Returns all keys in their order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.entries.keys()
    }

    /// Returns all entries in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.entries.values().map(|entry| &**entry)
    }

    /// Returns the open entries in the order of their keys.
    pub fn open(&self) -> impl Iterator<Item = (&K, &V)> {
        self.open.iter().filter_map(|key| Some((key, &**self.entries.get(key)?)))
    }

    /// Adds an entry, or replaces the entry with the same key.
    pub(crate) fn insert(&mut self, key: K, entry: V) {
        self.mark(key.clone(), entry.is_open());
        self.entries.insert_mut(key, Arc::new(entry));
    }

    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        self.entries.remove_mut(key);
        self.open.remove_mut(key);
    }

    /// Changes the entry with this key. Does nothing if there is no such entry. The method is meant for `apply`.
    /// `change` is public so that tests can call it.
    pub fn change<Q: Ord + ?Sized>(&mut self, key: &Q, change: impl FnOnce(&mut V))
    where
        K: Borrow<Q>,
    {
        let Some(entry) = self.entries.get_mut(key) else { return };
        let was_open = entry.is_open();
        let entry = Arc::make_mut(entry);
        change(entry);
        let is_open = entry.is_open();
        if is_open != was_open
            && let Some((key, _)) = self.entries.get_key_value(key)
        {
            self.mark(key.clone(), is_open);
        }
    }

    /// Changes the open entries for which `is_meant` returns true.
    pub(crate) fn change_open(&mut self, is_meant: impl Fn(&K, &V) -> bool, change: impl Fn(&mut V)) {
        let meant: Vec<K> =
            self.open().filter(|(key, entry)| is_meant(key, entry)).map(|(key, _)| key.clone()).collect();
        for key in meant {
            self.change(&key, &change);
        }
    }

    fn mark(&mut self, key: K, is_open: bool) {
        if is_open {
            self.open.insert_mut(key);
        } else {
            self.open.remove_mut(&key);
        }
    }
}

impl<K: Ord + Borrow<Q>, Q: Ord + ?Sized, V> Index<&Q> for OpenMap<K, V> {
    type Output = Arc<V>;

    fn index(&self, key: &Q) -> &Arc<V> {
        &self.entries[key]
    }
}
