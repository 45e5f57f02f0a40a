import ArgumentParser

@testable import bletool

/// Parses a command line as the program does.
func parse(_ arguments: [String]) throws -> any ParsableCommand {
    try BLETool.parseAsRoot(try ArgumentOrder.arranged(arguments))
}
