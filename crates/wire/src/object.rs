//! Macros that declare protocol types: objects, open enums and tagged unions.
//!
//! Serde's derive can read the protocol but cannot preserve it: `flatten` and internally tagged enums buffer every
//! value, lose the difference between `null` and absent, and cost more than the parse itself. These three macros
//! guarantee that unknown parts are kept, that a value prints back equal to its input, and that nothing is buffered.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error as _, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer};

use crate::Extra;

/// An object type: known fields plus [`Extra`].
pub trait Object {
    /// Serializes all fields into `map`.
    fn print_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// Returns the fields that the type does not declare.
    fn extra_mut(&mut self) -> &mut Extra;
}

/// A string of the input, borrowed unless it contains escapes.
pub(crate) struct Key<'de>(Cow<'de, str>);

impl Key<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Text)
    }
}

/// Reads a tagged object whose tag is not its first key, by moving the tag to the front.
///
/// This buffers the object. It is rare, because all known peers print the tag first.
pub(crate) fn read_with_tag_first<'de, A, T>(
    tag: &str,
    first_key: &Key<'de>,
    mut map: A,
) -> Result<T, A::Error>
where
    A: serde::de::MapAccess<'de>,
    T: serde::de::DeserializeOwned,
{
    let mut fields = Extra::default();
    fields.push(first_key.as_str(), map.next_value()?);
    while let Some(key) = map.next_key::<Key<'de>>()? {
        fields.push(key.as_str(), map.next_value()?);
    }
    let value = fields.remove(tag).ok_or_else(|| A::Error::custom(format_args!("missing field `{tag}`")))?;
    let mut reordered = Extra::default();
    reordered.push(tag, value);
    for (key, value) in fields.iter() {
        reordered.push(key, value.clone());
    }
    let text = serde_json::to_string(&reordered).map_err(A::Error::custom)?;
    serde_json::from_str(&text).map_err(A::Error::custom)
}

/// Declares an object type.
///
/// Each field is `name: Type = "wireName"` and must have a doc comment: its meaning, unit, default and sender, as far as
/// they are known. Required fields come first, optional ones follow. A field that is absent or `null` reads as `None`;
/// a `null` is kept in `extra`, so that it is printed again.
macro_rules! object {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident { $($(#[doc = $rdoc:literal])+ $rf:ident : $RT:ty = $rw:literal),* $(,)? }
        $(optional { $($(#[doc = $odoc:literal])+ $of:ident : $OT:ty = $ow:literal),* $(,)? })?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $Name {
            $($(#[doc = $rdoc])+ #[doc = concat!("\n\nWire name: `", $rw, "`.")] pub $rf: $RT,)*
            $($($(#[doc = $odoc])+ #[doc = concat!("\n\nWire name: `", $ow, "`.")] pub $of: Option<$OT>,)*)?
            /// Fields that this version of the crate does not declare.
            pub extra: $crate::Extra,
        }

        $crate::object::object!(@make $Name { $($rf: $RT = $rw,)* } { $($($of = $ow),*)? });

        impl $crate::Object for $Name {
            fn print_fields<M: ::serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                $(map.serialize_entry($rw, &self.$rf)?;)*
                $($(if let Some(value) = &self.$of { map.serialize_entry($ow, value)?; })*)?
                for (key, value) in self.extra.iter() {
                    map.serialize_entry(key, value)?;
                }
                Ok(())
            }

            fn extra_mut(&mut self) -> &mut $crate::Extra {
                &mut self.extra
            }
        }

        impl $crate::Audit for $Name {
            fn audit(&self, found: &mut $crate::Findings) {
                $(found.field($rw, &self.$rf);)*
                $($(if let Some(value) = &self.$of { found.field($ow, value); })*)?
                // a preserved `null` of a known field is not an unknown field
                for (key, value) in self.extra.iter() {
                    let known = [$($($ow),*)?].contains(&key) && value.is_null();
                    if !known {
                        found.unknown_field(key);
                    }
                }
            }
        }

        impl ::serde::Serialize for $Name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                $crate::Object::print_fields(self, &mut map)?;
                ::serde::ser::SerializeMap::end(map)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $Name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Fields;

                impl<'de> ::serde::de::Visitor<'de> for Fields {
                    type Value = $Name;

                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str(concat!("an object (", stringify!($Name), ")"))
                    }

                    fn visit_map<A: ::serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$Name, A::Error> {
                        $(let mut $rf: Option<$RT> = None;)*
                        $($(let mut $of: Option<$OT> = None;)*)?
                        let mut extra = $crate::Extra::default();
                        while let Some(key) = map.next_key::<$crate::object::Key<'de>>()? {
                            match key.as_str() {
                                $($rw => $rf = Some(map.next_value()?),)*
                                $($($ow => {
                                    $of = map.next_value()?;
                                    if $of.is_none() {
                                        extra.push($ow, $crate::Json::null());
                                    }
                                })*)?
                                other => extra.push(other, map.next_value()?),
                            }
                        }
                        Ok($Name {
                            $($rf: $rf.ok_or_else(|| <A::Error as ::serde::de::Error>::missing_field($rw))?,)*
                            $($($of,)*)?
                            extra,
                        })
                    }
                }

                deserializer.deserialize_map(Fields)
            }
        }
    };

    // without required fields, `Default` is the constructor
    (@make $Name:ident { } { $($of:ident = $ow:literal),* }) => {
        impl Default for $Name {
            fn default() -> Self {
                Self { $($of: None,)* extra: $crate::Extra::default() }
            }
        }

        impl $Name {
            /// Merges `newer` into `self`: its fields replace ours, its nulls clear ours, absent fields stay.
            pub fn merge(&mut self, newer: Self) {
                $(if newer.$of.is_some() || newer.extra.get($ow).is_some() {
                    self.$of = newer.$of;
                })*
                for (key, value) in newer.extra.iter() {
                    self.extra.insert(key, value.clone());
                }
            }
        }
    };
    (@make $Name:ident { $($rf:ident : $RT:ty = $rw:literal,)+ } { $($of:ident = $ow:literal),* }) => {
        impl $Name {
            /// Creates a value from the required fields; all others are absent.
            #[allow(clippy::too_many_arguments, reason = "the protocol requires that many fields")]
            pub fn new($($rf: impl Into<$RT>),*) -> Self {
                Self { $($rf: $rf.into(),)* $($of: None,)* extra: $crate::Extra::default() }
            }
        }
    };
}
pub(crate) use object;

/// Declares an open enum of strings: unknown values are kept in `Unrecognized`. Each variant must have a doc comment.
macro_rules! open_enum {
    ($(#[$meta:meta])* pub enum $Name:ident { $($(#[doc = $vdoc:literal])+ $V:ident = $w:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $Name {
            $($(#[doc = $vdoc])+ #[doc = concat!("\n\nWire value: `", $w, "`.")] $V,)*
            /// A value that this version of the crate does not know.
            Unrecognized(Box<str>),
        }

        impl $Name {
            /// All known wire values.
            pub const KNOWN: &'static [&'static str] = &[$($w),*];

            /// Returns the wire value.
            pub fn as_str(&self) -> &str {
                match self { $(Self::$V => $w,)* Self::Unrecognized(text) => text }
            }
        }

        impl From<&str> for $Name {
            fn from(text: &str) -> Self {
                match text { $($w => Self::$V,)* other => Self::Unrecognized(other.into()) }
            }
        }

        impl ::std::fmt::Display for $Name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::Audit for $Name {
            fn audit(&self, found: &mut $crate::Findings) {
                if let Self::Unrecognized(text) = self {
                    found.unknown_value(text);
                }
            }
        }

        impl ::serde::Serialize for $Name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $Name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$crate::object::Key<'de> as ::serde::Deserialize>::deserialize(deserializer).map(|text| Self::from(text.as_str()))
            }
        }
    };
}
pub(crate) use open_enum;

/// Declares a tagged union: objects distinguished by the string value of one key. Each variant must have a doc comment.
macro_rules! tagged {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident by $tag:literal { $($(#[doc = $vdoc:literal])+ $V:ident($T:ty) = $w:literal),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum $Name {
            $($(#[doc = $vdoc])+ #[doc = concat!("\n\nTag: `", $w, "`.")] $V($T),)*
            /// An object whose tag this version of the crate does not know.
            Unknown($crate::Unknown),
        }

        impl $Name {
            /// All known tags.
            pub const KNOWN: &'static [&'static str] = &[$($w),*];

            #[doc = concat!("Returns the tag: the value of `", $tag, "`.")]
            pub fn tag(&self) -> &str {
                match self { $(Self::$V(_) => $w,)* Self::Unknown(unknown) => &unknown.tag }
            }
        }

        $(impl From<$T> for $Name {
            fn from(value: $T) -> Self {
                Self::$V(value)
            }
        })*

        impl $crate::Audit for $Name {
            fn audit(&self, found: &mut $crate::Findings) {
                match self {
                    $(Self::$V(value) => $crate::Audit::audit(value, found),)*
                    Self::Unknown(unknown) => found.unknown_kind(&unknown.tag),
                }
            }
        }

        impl ::serde::Serialize for $Name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                ::serde::ser::SerializeMap::serialize_entry(&mut map, $tag, self.tag())?;
                match self {
                    $(Self::$V(value) => $crate::Object::print_fields(value, &mut map)?,)*
                    Self::Unknown(unknown) => {
                        for (key, value) in unknown.fields.iter() {
                            ::serde::ser::SerializeMap::serialize_entry(&mut map, key, value)?;
                        }
                    }
                }
                ::serde::ser::SerializeMap::end(map)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $Name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Tagged;

                impl<'de> ::serde::de::Visitor<'de> for Tagged {
                    type Value = $Name;

                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str(concat!("an object with `", $tag, "` (", stringify!($Name), ")"))
                    }

                    fn visit_map<A: ::serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$Name, A::Error> {
                        use ::serde::de::value::MapAccessDeserializer as Rest;
                        let Some(key) = map.next_key::<$crate::object::Key<'de>>()? else {
                            return Err(<A::Error as ::serde::de::Error>::missing_field($tag));
                        };
                        if key.as_str() != $tag {
                            return $crate::object::read_with_tag_first($tag, &key, map);
                        }
                        let tag: $crate::object::Key<'de> = map.next_value()?;
                        match tag.as_str() {
                            $($w => <$T as ::serde::Deserialize>::deserialize(Rest::new(map)).map($Name::$V),)*
                            other => Ok($Name::Unknown($crate::Unknown {
                                tag: other.into(),
                                fields: ::serde::Deserialize::deserialize(Rest::new(map))?,
                            })),
                        }
                    }
                }

                deserializer.deserialize_map(Tagged)
            }
        }
    };
}
pub(crate) use tagged;

/// An object with a tag that this version of the crate does not know, preserved in full.
#[derive(Debug, Clone, PartialEq)]
pub struct Unknown {
    /// The value of the tag.
    pub tag: Box<str>,
    /// All other fields.
    pub fields: Extra,
}

impl<T: Object> Object for Box<T> {
    fn print_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        (**self).print_fields(map)
    }

    fn extra_mut(&mut self) -> &mut Extra {
        (**self).extra_mut()
    }
}
