// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// A plain ERC-20 token with any number of decimals.
contract PlainToken {
    event Transfer(address indexed from, address indexed to, uint256 value);
    uint8 public immutable decimals;
    mapping(address => uint256) public balanceOf;

    constructor(uint8 decimals_) {
        decimals = decimals_;
        balanceOf[msg.sender] = type(uint128).max;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferToBoth(address a, address b, uint256 value) external {
        move(msg.sender, a, value);
        move(msg.sender, b, value);
    }

    function move(address from, address to, uint256 value) internal {
        require(balanceOf[from] >= value, "balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// Like USDT on Ethereum: `transfer` returns nothing.
contract SilentToken {
    event Transfer(address indexed from, address indexed to, uint256 value);
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;

    constructor() {
        balanceOf[msg.sender] = type(uint128).max;
    }

    function transfer(address to, uint256 value) external {
        require(balanceOf[msg.sender] >= value, "balance");
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
    }
}

/// Keeps one percent of each transfer.
contract FeeToken {
    event Transfer(address indexed from, address indexed to, uint256 value);
    uint8 public constant decimals = 6;
    address private immutable owner = msg.sender;
    mapping(address => uint256) public balanceOf;

    constructor() {
        balanceOf[msg.sender] = type(uint128).max;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        uint256 fee = value / 100;
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value - fee;
        balanceOf[owner] += fee;
        emit Transfer(msg.sender, to, value - fee);
        emit Transfer(msg.sender, owner, fee);
        return true;
    }
}

/// Passes native coins on from inside a contract, and fails on demand.
contract Splitter {
    function pay(address payable[] calldata to) external payable {
        for (uint256 i = 0; i < to.length; i++) {
            (bool sent, ) = to[i].call{value: msg.value / to.length}("");
            require(sent, "not sent");
        }
    }

    function fail(address payable) external payable {
        revert("on purpose");
    }
}
