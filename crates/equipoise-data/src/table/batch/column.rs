//! One column of a decoded batch.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrowPrimitiveType, BooleanArray, LargeStringArray, StringArray, StringViewArray,
};
use arrow_schema::DataType;

use super::Cell;

/// An array of a type that cells can hold.
pub(super) enum Column<'a> {
    Null,
    Bool(&'a BooleanArray),
    Text(&'a StringArray),
    LargeText(&'a LargeStringArray),
    TextView(&'a StringViewArray),
    /// Indices into distinct values: a pandas or polars category.
    Dictionary(&'a dyn Array, Vec<usize>, Box<Column<'a>>),
    /// Integers and floats as 64-bit floats. Integers beyond 2^53 are rounded, as any feature would be.
    Number(&'a dyn Array, Cow<'a, [f64]>),
}

impl<'a> Column<'a> {
    pub(super) fn can_hold(kind: &DataType) -> bool {
        if let DataType::Dictionary(_, values) = kind {
            return Self::can_hold(values);
        }
        kind.is_integer()
            || kind.is_floating()
            || matches!(
                kind,
                DataType::Null
                    | DataType::Boolean
                    | DataType::Utf8
                    | DataType::LargeUtf8
                    | DataType::Utf8View
            )
    }

    pub(super) fn of(array: &'a dyn Array) -> Option<Self> {
        fn floats<T: ArrowPrimitiveType>(
            array: &dyn Array,
            float: impl Fn(T::Native) -> f64,
        ) -> Option<Cow<'_, [f64]>> {
            Some(array.as_primitive_opt::<T>()?.values().iter().map(|v| float(*v)).collect())
        }
        let numbers = match array.data_type() {
            DataType::Null => return Some(Self::Null),
            DataType::Boolean => return array.as_boolean_opt().map(Self::Bool),
            DataType::Utf8 => return array.as_string_opt().map(Self::Text),
            DataType::LargeUtf8 => return array.as_string_opt().map(Self::LargeText),
            DataType::Utf8View => return array.as_string_view_opt().map(Self::TextView),
            DataType::Dictionary(..) => return Self::of_dictionary(array),
            DataType::Int8 => floats::<Int8Type>(array, f64::from),
            DataType::Int16 => floats::<Int16Type>(array, f64::from),
            DataType::Int32 => floats::<Int32Type>(array, f64::from),
            DataType::Int64 => floats::<Int64Type>(array, |v| v as f64),
            DataType::UInt8 => floats::<UInt8Type>(array, f64::from),
            DataType::UInt16 => floats::<UInt16Type>(array, f64::from),
            DataType::UInt32 => floats::<UInt32Type>(array, f64::from),
            DataType::UInt64 => floats::<UInt64Type>(array, |v| v as f64),
            DataType::Float16 => floats::<Float16Type>(array, |v| v.to_f64()),
            DataType::Float32 => floats::<Float32Type>(array, f64::from),
            DataType::Float64 => Some(array.as_primitive_opt::<Float64Type>()?.values()[..].into()),
            _ => None,
        };
        Some(Self::Number(array, numbers?))
    }

    fn of_dictionary(array: &'a dyn Array) -> Option<Self> {
        let dictionary = array.as_any_dictionary_opt()?;
        let values = dictionary.values();
        if values.is_empty() {
            return Some(Self::Null);
        }
        let values = Box::new(Self::of(values.as_ref())?);
        Some(Self::Dictionary(array, dictionary.normalized_keys(), values))
    }

    /// Calls `put` with index and number of every cell. Returns `false` without a call if some cell may not be a
    /// number.
    pub(super) fn numbers(&self, mut put: impl FnMut(usize, f64)) -> bool {
        match self {
            Self::Number(array, numbers) if array.null_count() == 0 => {
                numbers.iter().enumerate().for_each(|(i, &number)| put(i, number));
                true
            }
            _ => false,
        }
    }

    pub(super) fn cell(&self, i: usize) -> Cell<'a> {
        match *self {
            Self::Bool(a) if a.is_valid(i) => Cell::of_number(f64::from(a.value(i))),
            Self::Text(a) if a.is_valid(i) => Cell::of_text(a.value(i)),
            Self::LargeText(a) if a.is_valid(i) => Cell::of_text(a.value(i)),
            Self::TextView(a) if a.is_valid(i) => Cell::of_text(a.value(i)),
            Self::Dictionary(a, ref keys, ref values) if a.is_valid(i) => values.cell(keys[i]),
            Self::Number(a, ref numbers) if a.is_valid(i) => Cell::of_number(numbers[i]),
            _ => Cell::Missing,
        }
    }
}
