// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "firmware-scan",
    dependencies: [
        .package(name: "jelling", path: "../../..")
    ],
    targets: [
        .executableTarget(
            name: "firmware-scan",
            dependencies: [.product(name: "BLEFirmware", package: "jelling")])
    ]
)
