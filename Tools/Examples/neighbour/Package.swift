// swift-tools-version: 6.2
import PackageDescription

// A package as there are many: it uses Core Bluetooth where it finds it, and depends on nothing.
let package = Package(
    name: "neighbour",
    products: [.library(name: "Neighbour", targets: ["Neighbour"])],
    targets: [.target(name: "Neighbour")]
)
