//! The values both engines speak, and how Rust types become them.

use std::borrow::Cow;

use postgres::types::{FromSql, IsNull, ToSql, Type, WrongType, private::BytesMut};
use rusqlite::types::{ToSqlOutput, ValueRef};

type BoxedError = Box<dyn std::error::Error + Sync + Send>;

/// A borrowed parameter or column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

/// A [`Value`] that owns its bytes, for rows that outlive their query.
#[derive(Debug, Clone, PartialEq)]
pub enum OwnedValue {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// Parameters for one statement, in the order `$1`, `$2`, …
///
/// The arguments are borrowed, so a large text is not copied on its way to the driver.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::ToValue::to_value(&$value)),*] as &[$crate::Value<'_>]
    };
}

/// A Rust type that can be a parameter.
pub trait ToValue {
    fn to_value(&self) -> Value<'_>;
}

/// A Rust type that a column can become.
pub trait FromValue: Sized {
    /// The value as this type, or what it is instead.
    fn from_value(value: Value<'_>) -> Result<Self, String>;
}

impl Value<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Integer(_) => "an integer",
            Value::Real(_) => "a real",
            Value::Text(_) => "text",
            Value::Blob(_) => "a blob",
        }
    }
}

macro_rules! integer_values {
    ($($integer:ty),*) => {$(
        impl ToValue for $integer {
            fn to_value(&self) -> Value<'_> {
                Value::Integer(i64::from(*self))
            }
        }

        impl FromValue for $integer {
            fn from_value(value: Value<'_>) -> Result<Self, String> {
                match value {
                    Value::Integer(number) => <$integer>::try_from(number)
                        .map_err(|_| format!("{number} does not fit {}", stringify!($integer))),
                    other => Err(format!("{} is not an integer", other.kind())),
                }
            }
        }
    )*};
}
integer_values!(i64, i32, u32, u16, u8);

impl ToValue for bool {
    fn to_value(&self) -> Value<'_> {
        Value::Integer(i64::from(*self))
    }
}

impl FromValue for bool {
    fn from_value(value: Value<'_>) -> Result<Self, String> {
        i64::from_value(value).map(|number| number != 0)
    }
}

impl ToValue for f64 {
    fn to_value(&self) -> Value<'_> {
        Value::Real(*self)
    }
}

impl FromValue for f64 {
    fn from_value(value: Value<'_>) -> Result<Self, String> {
        match value {
            Value::Real(number) => Ok(number),
            // SQLite stores a whole real as an integer when the column lets it.
            #[expect(clippy::cast_precision_loss, reason = "a real column holds no more digits than this")]
            Value::Integer(number) => Ok(number as f64),
            other => Err(format!("{} is not a number", other.kind())),
        }
    }
}

impl ToValue for str {
    fn to_value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl ToValue for String {
    fn to_value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl ToValue for Cow<'_, str> {
    fn to_value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl FromValue for String {
    fn from_value(value: Value<'_>) -> Result<Self, String> {
        match value {
            Value::Text(text) => Ok(text.to_owned()),
            other => Err(format!("{} is not text", other.kind())),
        }
    }
}

impl ToValue for [u8] {
    fn to_value(&self) -> Value<'_> {
        Value::Blob(self)
    }
}

impl ToValue for Vec<u8> {
    fn to_value(&self) -> Value<'_> {
        Value::Blob(self)
    }
}

impl<const N: usize> ToValue for [u8; N] {
    fn to_value(&self) -> Value<'_> {
        Value::Blob(self)
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: Value<'_>) -> Result<Self, String> {
        match value {
            Value::Blob(bytes) => Ok(bytes.to_vec()),
            other => Err(format!("{} is not a blob", other.kind())),
        }
    }
}

impl<const N: usize> FromValue for [u8; N] {
    fn from_value(value: Value<'_>) -> Result<Self, String> {
        let bytes = Vec::from_value(value)?;
        <[u8; N]>::try_from(bytes).map_err(|bytes| format!("{} bytes are not {N}", bytes.len()))
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, ToValue::to_value)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value<'_>) -> Result<Self, String> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    fn to_value(&self) -> Value<'_> {
        (**self).to_value()
    }
}

impl ToValue for OwnedValue {
    fn to_value(&self) -> Value<'_> {
        match self {
            OwnedValue::Null => Value::Null,
            OwnedValue::Integer(number) => Value::Integer(*number),
            OwnedValue::Real(number) => Value::Real(*number),
            OwnedValue::Text(text) => Value::Text(text),
            OwnedValue::Blob(bytes) => Value::Blob(bytes),
        }
    }
}

impl FromValue for OwnedValue {
    fn from_value(value: Value<'_>) -> Result<Self, String> {
        Ok(value.into())
    }
}

impl From<Value<'_>> for OwnedValue {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => OwnedValue::Null,
            Value::Integer(number) => OwnedValue::Integer(number),
            Value::Real(number) => OwnedValue::Real(number),
            Value::Text(text) => OwnedValue::Text(text.to_owned()),
            Value::Blob(bytes) => OwnedValue::Blob(bytes.to_vec()),
        }
    }
}

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Value::Null => ValueRef::Null,
            Value::Integer(number) => ValueRef::Integer(number),
            Value::Real(number) => ValueRef::Real(number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl<'a> TryFrom<ValueRef<'a>> for Value<'a> {
    /// The bytes of a text that is not UTF-8.
    type Error = &'a [u8];

    fn try_from(value: ValueRef<'a>) -> Result<Self, &'a [u8]> {
        Ok(match value {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Integer(number),
            ValueRef::Real(number) => Value::Real(number),
            ValueRef::Text(text) => Value::Text(str::from_utf8(text).map_err(|_| text)?),
            ValueRef::Blob(bytes) => Value::Blob(bytes),
        })
    }
}

/// Sends a value as a type that it fits. Otherwise the server would take its bytes for something
/// else: those of a real, or of a text of eight letters, for an integer.
fn send<T: ToSql>(value: T, ty: &Type, out: &mut BytesMut) -> Result<IsNull, BoxedError> {
    if T::accepts(ty) { value.to_sql(ty, out) } else { Err(WrongType::new::<T>(ty.clone()).into()) }
}

// PostgreSQL tells the type it inferred for each parameter and column; we meet it halfway, so that
// one parameter list serves both engines.
impl ToSql for Value<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, BoxedError> {
        match *self {
            Value::Null => Ok(IsNull::Yes),
            Value::Integer(number) => match *ty {
                Type::INT2 => i16::try_from(number)?.to_sql(ty, out),
                Type::INT4 => i32::try_from(number)?.to_sql(ty, out),
                Type::BOOL => (number != 0).to_sql(ty, out),
                #[expect(clippy::cast_precision_loss, reason = "a real column holds no more digits than this")]
                Type::FLOAT8 => (number as f64).to_sql(ty, out),
                _ => send(number, ty, out),
            },
            Value::Real(number) => send(number, ty, out),
            Value::Text(text) => send(text, ty, out),
            Value::Blob(bytes) => send(bytes, ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    postgres::types::to_sql_checked!();
}

impl<'a> FromSql<'a> for Value<'a> {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, BoxedError> {
        Ok(match *ty {
            Type::INT8 => Value::Integer(i64::from_sql(ty, raw)?),
            Type::INT4 => Value::Integer(i32::from_sql(ty, raw)?.into()),
            Type::INT2 => Value::Integer(i16::from_sql(ty, raw)?.into()),
            Type::OID => Value::Integer(u32::from_sql(ty, raw)?.into()),
            Type::BOOL => Value::Integer(bool::from_sql(ty, raw)?.into()),
            Type::FLOAT8 => Value::Real(f64::from_sql(ty, raw)?),
            Type::FLOAT4 => Value::Real(f32::from_sql(ty, raw)?.into()),
            Type::BYTEA => Value::Blob(<&[u8]>::from_sql(ty, raw)?),
            Type::VOID => Value::Null,
            _ if <&str as FromSql>::accepts(ty) => Value::Text(<&str>::from_sql(ty, raw)?),
            _ => return Err(format!("a column of type {ty} needs a cast in the query").into()),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, BoxedError> {
        Ok(Value::Null)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
