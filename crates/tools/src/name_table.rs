//! A macro that declares an enum as a table: each row has a variant, its stable name, and further values.

/// Declares an enum, its constant `ALL`, and `name`, `row` and `Serialize`. `row` returns the further values of a
/// variant, built by the constructor of their type. `Serialize` writes the name.
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* $kind:ident: $row:ident;
     $($(#[$doc:meta])* $variant:ident $name:literal $cells:tt)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $kind { $($(#[$doc])* $variant),* }

        impl $kind {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the stable name of the variant, which is used in JSON and in documents.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// Returns the variant with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|each| each.name() == name)
            }

            const fn row(self) -> $row {
                match self { $(Self::$variant => $row $cells),* }
            }
        }

        impl serde::Serialize for $kind {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    };
}
