#pragma once
// How equal devices share the layers of one network.

namespace archsim {

/// Chips that share every layer, and where the links between them are slower.
struct Sharing {
    double tensor = 1; ///< devices that share every matrix and have the same tokens
    /// Chips that hold the experts of a mixture, whole ones each: a multiple of `tensor`. Where it is larger,
    /// groups of `tensor` devices have tokens of their own and send them to the devices of their experts. 0:
    /// every expert is shared like every other matrix.
    double experts = 0;
    double node = 0;    ///< devices that the fast links join; 0: all
    double network = 1; ///< time of a byte between nodes in times of a byte over the fast links

    /// Every matrix over that many devices, all joined by fast links.
    // NOLINTNEXTLINE(google-explicit-constructor): the number of devices is the usual case
    Sharing(double devices = 1) : tensor(devices) {}
    /// Equal when everything is.
    bool operator==(const Sharing&) const = default;
    /// Groups with tokens of their own.
    double groups() const { return experts > tensor ? experts / tensor : 1; }
    /// All devices.
    double devices() const { return tensor * groups(); }
};

} // namespace archsim
