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

    function transfer(address to, uint256 value) external virtual returns (bool) {
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

interface Factory {
    struct Batch {
        address treasury;
        address token;
        bytes32[] salts;
    }

    function sweep(Batch[] calldata batches) external returns (uint256);
    function sweepOne(address treasury, address token, bytes32 salt) external returns (uint256);
}

/// A treasury that is a contract: it takes everything, or handles ether as it was set up to.
contract Treasury {
    enum Behaviour {
        Accept,
        Refuse,
        BurnGas,
        Reenter
    }
    Behaviour public behaviour;
    Factory private factory;
    address private token;
    bytes32[] private salts;
    /// As of a Safe: how many transactions it has executed.
    uint256 public nonce;

    constructor(Behaviour behaviour_, Factory factory_) {
        behaviour = behaviour_;
        factory = factory_;
    }

    function payOut(address payable[] calldata to, uint256 amount) external {
        nonce += 1;
        for (uint256 i = 0; i < to.length; i++) {
            (bool sent, ) = to[i].call{value: amount}("");
            require(sent, "not sent");
        }
    }

    function reenterWith(address token_, bytes32[] calldata salts_) external {
        token = token_;
        salts = salts_;
    }

    receive() external payable {
        if (behaviour == Behaviour.Refuse) revert("no ether");
        if (behaviour == Behaviour.BurnGas) while (true) {}
        if (behaviour == Behaviour.Reenter) {
            for (uint256 i = 0; i < salts.length; i++) {
                try factory.sweepOne(address(this), token, salts[i]) {} catch {}
                try factory.sweepOne(address(this), address(0), salts[i]) {} catch {}
            }
        }
    }
}

/// A token that can refuse all transfers, burn gas, or call the factory back from inside of a transfer.
contract HostileToken is PlainToken(6) {
    uint8 public behaviour;
    Factory private factory;
    address private treasury;
    bytes32[] private salts;

    function behave(uint8 behaviour_, Factory factory_, address treasury_, bytes32[] calldata salts_) external {
        behaviour = behaviour_;
        factory = factory_;
        treasury = treasury_;
        salts = salts_;
    }

    function transfer(address to, uint256 value) external override returns (bool) {
        if (behaviour == 1) revert("no transfer");
        if (behaviour == 2) while (true) {}
        if (behaviour == 3) return false;
        if (behaviour == 4) {
            for (uint256 i = 0; i < salts.length; i++) {
                try factory.sweepOne(treasury, address(0), salts[i]) {} catch {}
                try factory.sweepOne(treasury, address(this), salts[i]) {} catch {}
            }
        }
        move(msg.sender, to, value);
        return true;
    }
}

/// A wallet of one owner, as smart accounts are. It says itself which signatures are its own (EIP-1271).
contract ContractWallet {
    address private immutable owner;
    mapping(bytes32 => bool) private signed;
    bool private isHostile;
    string private complaint;

    constructor(address owner_) {
        owner = owner_;
    }

    function pay(address token, address to, uint256 value) external {
        (bool sent, ) = token.call(abi.encodeWithSignature("transfer(address,uint256)", to, value));
        require(sent, "not sent");
    }

    /// What a Safe keeps on its chain: the signature of such a hash is empty.
    function sign(bytes32 hash) external {
        signed[hash] = true;
    }

    function turnHostile() external {
        isHostile = true;
    }

    /// It reverts with this text from then on.
    function complain(string calldata text) external {
        complaint = text;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        require(bytes(complaint).length == 0, complaint);
        if (isHostile) while (true) {}
        if (signature.length == 0) {
            require(signed[hash], "not signed");
            return 0x1626ba7e;
        }
        require(signature.length == 65, "length");
        address signer = ecrecover(
            hash,
            uint8(signature[64]),
            bytes32(signature[:32]),
            bytes32(signature[32:64])
        );
        return signer == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}
