/// Which rooms of the engine are in this build.
///
/// Firmware with little flash leaves rooms out with a compile condition (`Tools/cross --features`). The doors of a room
/// ask here; behind a door that is closed in every call, the compiler and the linker find code that nothing reaches,
/// and drop it. Every other build has all rooms.
///
/// An engine without a room behaves as one whose owner did not ask for it: without links there is none to command,
/// without pairing there is no crypto provider.
package enum Features {
    /// Connections, with the GATT client.
    @inline(__always)
    package static var links: Bool {
        #if JELLING_WITHOUT_LINKS
        false
        #else
        true
        #endif
    }

    /// L2CAP channels of applications. A peer's requests for them are not understood without it.
    @inline(__always)
    package static var channels: Bool {
        #if JELLING_WITHOUT_CHANNELS
        false
        #else
        true
        #endif
    }

    /// Enhanced attribute bearers, which need an encrypted link.
    @inline(__always)
    package static var enhancedBearers: Bool {
        #if JELLING_WITHOUT_ENHANCED_BEARERS || JELLING_WITHOUT_LINKS || JELLING_WITHOUT_PAIRING
        false
        #else
        channels
        #endif
    }

    /// The peripheral role: advertising, and the GATT server. A peer's requests are refused without it.
    @inline(__always)
    package static var server: Bool {
        #if JELLING_WITHOUT_SERVER
        false
        #else
        true
        #endif
    }

    /// Advertising sets beside the one that all clients share.
    @inline(__always)
    package static var sets: Bool {
        #if JELLING_WITHOUT_SETS
        false
        #else
        true
        #endif
    }

    /// Following the periodic trains of others, and passing them on.
    @inline(__always)
    package static var trains: Bool {
        #if JELLING_WITHOUT_TRAINS
        false
        #else
        true
        #endif
    }

    /// Periodic trains with responses.
    @inline(__always)
    package static var responses: Bool {
        #if JELLING_WITHOUT_RESPONSES
        false
        #else
        sets && trains
        #endif
    }

    /// Measurements of links: transmit power, path loss, and whether an encrypted link still lives.
    @inline(__always)
    package static var linkReports: Bool {
        #if JELLING_WITHOUT_LINK_REPORTS || JELLING_WITHOUT_LINKS
        false
        #else
        true
        #endif
    }

    /// Connection parameters that follow what runs on a link.
    @inline(__always)
    package static var pace: Bool {
        #if JELLING_WITHOUT_PACE || JELLING_WITHOUT_LINKS
        false
        #else
        true
        #endif
    }

    /// Several users whose clients share one engine: only daemons have them. In Embedded Swift an engine has one owner,
    /// who is its only client.
    @inline(__always)
    package static var users: Bool {
        #if hasFeature(Embedded)
        false
        #else
        true
        #endif
    }

    /// Pairing, bonds, encryption, signatures and private addresses: all that needs a crypto provider.
    @inline(__always)
    package static var pairing: Bool {
        #if JELLING_WITHOUT_PAIRING
        false
        #else
        true
        #endif
    }
}
