// The name is like Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEAppLifecycle

/// Whether an app's advertisements send the overflow area: the services that do not fit, and in the background all of
/// them, hashed into 16 octets after a company identifier (SPEC 3.6).
///
/// An app that is in the background, or that advertises more services than fit, cannot be found by them without it.
public enum CBOverflowArea: Hashable, Sendable {
    /// Services that do not fit, or are in the background, are not advertised.
    case off
    /// With Apple's company identifier, 0x004C, unless the manifest or the owner of `bled` names another one: iPhones
    /// and other apps of this module then find the services by scanning for them.
    case on
    /// With this company identifier; only scanners that know it look into the area. Apps that share a controller through
    /// `bled` have one area, whose company is that of its configuration: an app that names another one adds nothing.
    case company(UInt16)

    init(_ setting: OverflowSetting) {
        switch setting {
        case .off: self = .off
        case .on: self = .on
        case .company(let company): self = .company(company)
        }
    }
}

extension OverflowSetting {
    init(_ area: CBOverflowArea) {
        switch area {
        case .off: self = .off
        case .on: self = .on
        case .company(let company): self = .company(company)
        }
    }
}
