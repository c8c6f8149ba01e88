// The compiled part of fmt, once for the library: Debian has it as a shared library alone, which every
// program that links ours would have to load, and as headers, which cost seconds in every file that formats a
// number.

#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// Declared by format.h as templates that another file defines.
template auto dragonbox::to_decimal(float x) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double x) noexcept -> dragonbox::decimal_fp<double>;
template locale_ref::locale_ref(const std::locale& locale);
template auto locale_ref::get<std::locale>() const -> std::locale;
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
template void vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);

} // namespace detail
FMT_END_NAMESPACE
