//! Declares a list of tests, and the macro that defines them in another crate.

/// Declares the modules with the functions of a suite, and exports the macro `$suite!(target)`.
///
/// The functions are private to this crate. A function that is not in the list is dead code, which the compiler reports. `$parent` is the
/// module of the invocation, and `$` is the dollar sign of the exported macro.
macro_rules! suite {
    (
        $(#[$about:meta])*
        macro $dollar:tt $parent:ident::$suite:ident($target:ty)
        $(mod $module:ident { $($test:ident,)+ })+
    ) => {
        $(mod $module;)+

        #[expect(missing_docs, reason = "the names of tests are self-explanatory")]
        pub mod $suite {
            $(
                pub mod $module {
                    use std::pin::Pin;

                    #[allow(unused_imports, reason = "not every kind of target is imported by its name")]
                    use crate::target::{Executable, Target};

                    $(
                        // boxed, so that the body is compiled here and not in each crate that has the test
                        pub fn $test(target: &$target) -> Pin<Box<dyn Future<Output = crate::Result<()>> + '_>> {
                            Box::pin(super::super::$module::$test(target))
                        }
                    )+
                }
            )+
        }

        $(#[$about])*
        ///
        /// The target is an expression; it is evaluated in each test, in a module of its own.
        #[macro_export]
        macro_rules! $suite {
            ($dollar target:expr) => {
                $(
                    mod $module {
                        $(
                            #[tokio::test]
                            async fn $test() -> $crate::Result<()> {
                                $crate::$parent::$suite::$module::$test(&$dollar target).await
                            }
                        )+
                    }
                )+
            };
        }
    };
}
