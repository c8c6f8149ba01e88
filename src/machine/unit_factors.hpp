#pragma once
// Factors between the units of files and SI.

namespace archsim {

inline constexpr double kKibi = 1024, kMebi = kKibi * kKibi, kGibi = kMebi * kKibi;
inline constexpr double kKilo = 1e3, kMega = 1e6, kGiga = 1e9, kTera = 1e12;

} // namespace archsim
