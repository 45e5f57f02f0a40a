import ArgumentParser

@testable import bletool

/// Parses a command line as the program does.
func parse(_ arguments: [String]) throws -> any ParsableCommand {
    try CommandTable.parse(try ArgumentOrder.arranged(arguments))
}
