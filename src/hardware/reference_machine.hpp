#pragma once
// The computers that stacks and models take for granted (hardware_db/reference_machines.json): the processors
// beside which stacks state the time of code that starts work, and what a system keeps of a memory.

#include <string>
#include <string_view>

namespace archsim {

/// Instructions that the processor decodes per second beside which stacks of a family state such times.
/// Throws InputError where the table has none.
double reference_decode_rate(std::string_view family);

/// The processor of the computer that a card is taken to be in where nobody says: a server or a desktop.
std::string reference_host(bool server);

/// Bytes that programs get of a memory in which an operating system lives, too: all of one in which none
/// does.
double left_by_system(double memory_bytes);

} // namespace archsim
