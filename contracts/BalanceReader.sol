// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice Never deployed: nodes run its constructor in `eth_call`, and it answers with the balances of many addresses.
contract BalanceReader {
    /// @param token the zero address for the network's own coin
    constructor(address token, address[] memory owners) {
        uint256[] memory balances = new uint256[](owners.length);
        for (uint256 i = 0; i < owners.length; i++) {
            balances[i] = token == address(0) ? owners[i].balance : Token(token).balanceOf(owners[i]);
        }
        assembly {
            return(add(balances, 0x20), mul(mload(balances), 0x20))
        }
    }
}

interface Token {
    function balanceOf(address owner) external view returns (uint256);
}
