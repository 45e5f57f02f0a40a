/// The version that programs of this package print.
package let programVersion = "0.1.0"
